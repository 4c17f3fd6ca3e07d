#include "engine/base/atom.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <climits>
#include <ctime>

#include "engine/base/result.h"

namespace schedq {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a 32-bit word");
static_assert(std::atomic<uint32_t>::is_always_lock_free, "a futex is a plain word");

long Futex(const std::atomic<uint32_t>& word, int operation, uint32_t value,
           const timespec* deadline) {
  // A wait with FUTEX_WAIT_BITSET takes an absolute deadline on CLOCK_MONOTONIC, so a spurious wake
  // costs no arithmetic and no drift.
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, deadline, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

timespec ToTimespec(MonotonicTime time) {
  // steady_clock is CLOCK_MONOTONIC on Linux. A deadline before the clock's start has passed.
  const int64_t count_ns =
      time.time_since_epoch().count() > 0 ? time.time_since_epoch().count() : 0;
  return {.tv_sec = static_cast<time_t>(count_ns / kSecond.count()),
          .tv_nsec = static_cast<long>(count_ns % kSecond.count())};
}

// Which thread numbers are taken: one bit each. Written by a thread that takes or returns a number.
// Taking one acquires what returning it released, so that a number's next owner sees all that the
// last one wrote to cells that only the number's owner may write. Pages of numbers that no thread
// has had are never touched.
constexpr uint32_t kBitsPerWord = 64;
constinit std::array<std::atomic<uint64_t>, kThreadsMax / kBitsPerWord> taken_numbers{};

uint32_t TakeNumber() {
  for (uint32_t word = 0; word < taken_numbers.size(); ++word) {
    uint64_t bits = taken_numbers[word].load(std::memory_order_relaxed);
    // Each failed exchange means that another thread took or returned a number of this word.
    while (bits != ~uint64_t{0}) {
      const auto free_bit = static_cast<uint32_t>(std::countr_one(bits));
      if (taken_numbers[word].compare_exchange_weak(bits, bits | (uint64_t{1} << free_bit),
                                                    std::memory_order_acquire,
                                                    std::memory_order_relaxed)) {
        return word * kBitsPerWord + free_bit;
      }
    }
  }
  SCHEDQ_CHECK(false, "more threads live at one time than Linux has ids for");
  return 0;
}

void ReturnNumber(void*) {
  const uint32_t index = std::exchange(internal::thread_index, internal::kNoThreadIndex);
  if (index == internal::kNoThreadIndex) return;
  taken_numbers[index / kBitsPerWord].fetch_and(~(uint64_t{1} << (index % kBitsPerWord)),
                                                std::memory_order_release);
}

// A pthread key and not a thread_local object: its destructor runs after those of all thread_local
// objects, and once more when one of them asked for a number again.
pthread_key_t NumberKey() {
  static const pthread_key_t kKey = [] {
    pthread_key_t created;
    SCHEDQ_CHECK(pthread_key_create(&created, &ReturnNumber) == 0, "no pthread key is left");
    return created;
  }();
  return kKey;
}

}  // namespace

uint32_t internal::ClaimThreadIndex() {
  const uint32_t taken = TakeNumber();
  // Relaxed: see ThreadIndexesUsed. A retry means that another thread raised the mark.
  uint32_t used = thread_indexes_used.load(std::memory_order_relaxed);
  while (used <= taken &&
         !thread_indexes_used.compare_exchange_weak(used, taken + 1, std::memory_order_relaxed)) {
  }
  thread_index = taken;
  pthread_setspecific(NumberKey(), &thread_index);
  return thread_index;
}

void Seam<std::atomic>::Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool Seam<std::atomic>::Wait(const std::atomic<uint32_t>& word, uint32_t expected,
                             std::optional<MonotonicTime> deadline) {
  timespec until{};
  if (deadline) until = ToTimespec(*deadline);
  const long outcome = Futex(word, FUTEX_WAIT_BITSET, expected, deadline ? &until : nullptr);
  return !(outcome == -1 && errno == ETIMEDOUT);
}

void Seam<std::atomic>::WakeOne(const std::atomic<uint32_t>& word) {
  Futex(word, FUTEX_WAKE, 1, nullptr);
}

void Seam<std::atomic>::WakeAll(const std::atomic<uint32_t>& word) {
  Futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace schedq
