// What jemalloc is told before the program starts; another allocator does not look at it.
//
// Pods, records, indexes and rivals lie in random order over far more memory than the processor
// keeps addresses of. In pages of 2 MiB a random access is a miss of the cache alone, and of the
// page tables no more. What was freed is kept for a minute, so that in a round of a benchmark
// nobody pays for giving back, and asking for again, what a rival used in the round before. The
// environment's MALLOC_CONF has the last word.
extern "C" {
extern const char* malloc_conf;
__attribute__((used)) const char* malloc_conf =
    "thp:always,dirty_decay_ms:60000,muzzy_decay_ms:60000";
}
