// A library that is preloaded into a program and lets one of its calls to the system fail.
//
// SCHEDQ_FAULT=KIND:N lets the N-th call of this kind fail, counted from the start of main, in each
// process by itself:
//   read    read, pread, and open of what exists: EIO
//   write   write, writev, open of what is made, fsync, rename, mkdir: ENOSPC
//   memory  malloc and its relatives: no memory
//   back    clock_gettime: this one answer lies a thousand days back
//   ahead   clock_gettime: this answer and all later ones lie a thousand days ahead
//   thread  pthread_create: no further thread
//   signal  the calls of read and write: SIGINT arrives before it
//   stacks  none fails: the file that SCHEDQ_FAULT_MARK names, with the process's number behind it,
//           gets eight bytes for each allocation, a hash of the functions that lead to it
//   stack   N is such a hash: the first allocation that has it fails
// When it has failed, the file that SCHEDQ_FAULT_MARK names exists. fault_sweep.py uses this.
//
// Threads: any. Nothing here allocates: it would call itself.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr time_t kThousandDays = time_t{1000} * 24 * 3600;

// Set before main, read by all threads.
char fault_kind[16] = "";
unsigned long fault_number = 0;
char fault_mark[4096] = "";
std::atomic<bool> is_armed{false};
std::atomic<unsigned long> calls{0};

bool IsKind(const char* kind) { return is_armed.load() && std::strcmp(fault_kind, kind) == 0; }

// By a system call, for open is one of the calls that fail.
void Mark() {
  const long file = syscall(SYS_openat, AT_FDCWD, fault_mark, O_WRONLY | O_CREAT, 0600);
  if (file >= 0) syscall(SYS_close, file);
}

// Whether this call is the one that fails.
bool Fails(const char* kind) {
  if (!IsKind(kind) || calls.fetch_add(1) + 1 != fault_number) return false;
  const int saved_errno = errno;
  Mark();
  errno = saved_errno;
  return true;
}

bool FailsWith(const char* kind, int error) {
  if (!Fails(kind)) return false;
  errno = error;
  return true;
}

// For the calls of read and write.
bool CallFailsWith(const char* kind, int error) {
  if (Fails("signal")) std::raise(SIGINT);
  return FailsWith(kind, error);
}

// Stacks of calls. Addresses count from where their library begins, so that a hash is the same in
// each run of a program.
constexpr size_t kStacksMax = size_t{1} << 26;
uint64_t* stacks = nullptr;  // Written before main; a shared mapping, the n-th for the n-th call.
thread_local bool is_unwinding = false;

// Where the library begins that has this address.
uintptr_t BeginOf(uintptr_t address) {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return 0;
  return reinterpret_cast<uintptr_t>(found.dlfo_map_start);
}

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* hash) {
  const uintptr_t address = _Unwind_GetIP(context);
  // What this library has called itself is no part of the stack.
  static const uintptr_t kOwnBegin = BeginOf(reinterpret_cast<uintptr_t>(&AddFrame));
  const uintptr_t begin = BeginOf(address);
  if (begin == kOwnBegin) return _URC_NO_REASON;
  auto* const sum = static_cast<uint64_t*>(hash);
  *sum = (*sum ^ (address - begin)) * 0x9E3779B97F4A7C15u;
  *sum ^= *sum >> 29;
  return _URC_NO_REASON;
}

uint64_t StackHash() {
  uint64_t hash = 1;
  is_unwinding = true;
  _Unwind_Backtrace(AddFrame, &hash);
  is_unwinding = false;
  return hash;
}

void MapStacks() {
  char path[sizeof(fault_mark) + 32];
  std::snprintf(path, sizeof(path), "%s.%d", fault_mark, static_cast<int>(getpid()));
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
  constexpr size_t kBytes = kStacksMax * sizeof(uint64_t);
  if (file < 0 || ftruncate(static_cast<int>(file), kBytes) != 0) std::abort();
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(file), 0);
  if (memory == MAP_FAILED) std::abort();
  stacks = static_cast<uint64_t*>(memory);
  syscall(SYS_close, file);
}

// Whether this allocation is the one that fails.
bool AllocationFails() {
  if (!is_armed.load() || is_unwinding) return false;
  const int saved_errno = errno;
  bool fails = Fails("memory");
  if (IsKind("stacks")) {
    const unsigned long call = calls.fetch_add(1);
    if (call < kStacksMax) stacks[call] = StackHash();
  } else if (IsKind("stack") && StackHash() == fault_number && calls.fetch_add(1) == 0) {
    Mark();
    fails = true;
  }
  errno = fails ? ENOMEM : saved_errno;
  return fails;
}

// The function that this one stands before.
template <typename Function>
Function* Next(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(function) Next(#function, static_cast<decltype(&(function))>(nullptr))

void ReadRequest() {
  const char* const request = std::getenv("SCHEDQ_FAULT");
  const char* const mark = std::getenv("SCHEDQ_FAULT_MARK");
  if (request == nullptr || mark == nullptr || std::strlen(mark) >= sizeof(fault_mark)) return;
  const char* const colon = std::strchr(request, ':');
  if (colon == nullptr || static_cast<size_t>(colon - request) >= sizeof(fault_kind)) return;
  std::memcpy(fault_kind, request, static_cast<size_t>(colon - request));
  std::memcpy(fault_mark, mark, std::strlen(mark));
  fault_number = std::strtoul(colon + 1, nullptr, 10);
  if (std::strcmp(fault_kind, "stacks") == 0) MapStacks();
  StackHash();  // What the unwinder allocates at its first use is not the program's.
  is_armed.store(true);
}

using Main = int(int, char**, char**);
Main* program_main = nullptr;

int ArmedMain(int count, char** arguments, char** environment) {
  ReadRequest();
  return program_main(count, arguments, environment);
}

bool Makes(int flags) { return (flags & (O_CREAT | O_TRUNC)) != 0; }

// Memory that is wanted before dlsym has found malloc, which allocates itself.
alignas(16) char early_memory[1 << 16];
size_t early_used = 0;
bool is_resolving = false;

void* EarlyMemory(size_t bytes) {
  void* const memory = early_memory + early_used;
  early_used += (bytes + 15) / 16 * 16;
  return early_used <= sizeof(early_memory) ? memory : nullptr;
}
bool IsEarly(const void* memory) {
  return memory >= early_memory && memory < early_memory + sizeof(early_memory);
}

struct Allocator {
  decltype(&malloc) allocate = nullptr;
  decltype(&calloc) allocate_zeroed = nullptr;
  decltype(&realloc) resize = nullptr;
  decltype(&free) give_back = nullptr;
  decltype(&aligned_alloc) allocate_aligned = nullptr;
  decltype(&posix_memalign) allocate_posix = nullptr;
};

Allocator& Real() {
  static Allocator real;
  if (real.allocate_posix == nullptr && !is_resolving) {
    is_resolving = true;
    real.allocate = NEXT(malloc);
    real.allocate_zeroed = NEXT(calloc);
    real.resize = NEXT(realloc);
    real.give_back = NEXT(free);
    real.allocate_aligned = NEXT(aligned_alloc);
    real.allocate_posix = NEXT(posix_memalign);
    is_resolving = false;
  }
  return real;
}

}  // namespace

extern "C" {

int __libc_start_main(Main* main, int count, char** arguments, void (*init)(), void (*finish)(),
                      void (*loader)(), void* stack_end) {
  program_main = main;
  return NEXT(__libc_start_main)(ArmedMain, count, arguments, init, finish, loader, stack_end);
}

void* malloc(size_t bytes) {
  if (AllocationFails()) return nullptr;
  const Allocator& real = Real();
  return real.allocate == nullptr || is_resolving ? EarlyMemory(bytes) : real.allocate(bytes);
}

void* calloc(size_t count, size_t bytes) {
  if (AllocationFails()) return nullptr;
  const Allocator& real = Real();
  const bool is_early = real.allocate_zeroed == nullptr || is_resolving;
  return is_early ? EarlyMemory(count * bytes) : real.allocate_zeroed(count, bytes);
}

void* realloc(void* memory, size_t bytes) {
  if (AllocationFails()) return nullptr;
  if (!IsEarly(memory)) return Real().resize(memory, bytes);
  void* const moved = malloc(bytes);
  if (moved != nullptr) std::memcpy(moved, memory, bytes);
  return moved;
}

void free(void* memory) {
  if (!IsEarly(memory)) Real().give_back(memory);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  if (AllocationFails()) return nullptr;
  return Real().allocate_aligned(alignment, bytes);
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (AllocationFails()) return ENOMEM;
  return Real().allocate_posix(memory, alignment, bytes);
}

ssize_t read(int file, void* buffer, size_t bytes) {
  return CallFailsWith("read", EIO) ? -1 : NEXT(read)(file, buffer, bytes);
}

ssize_t pread(int file, void* buffer, size_t bytes, off_t offset) {
  return CallFailsWith("read", EIO) ? -1 : NEXT(pread)(file, buffer, bytes, offset);
}

ssize_t write(int file, const void* buffer, size_t bytes) {
  return CallFailsWith("write", ENOSPC) ? -1 : NEXT(write)(file, buffer, bytes);
}

ssize_t writev(int file, const iovec* buffers, int count) {
  return CallFailsWith("write", ENOSPC) ? -1 : NEXT(writev)(file, buffers, count);
}

int fsync(int file) { return CallFailsWith("write", ENOSPC) ? -1 : NEXT(fsync)(file); }

int rename(const char* from, const char* to) {
  return CallFailsWith("write", ENOSPC) ? -1 : NEXT(rename)(from, to);
}

int mkdir(const char* path, mode_t mode) {
  return CallFailsWith("write", ENOSPC) ? -1 : NEXT(mkdir)(path, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = Makes(flags) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (Makes(flags) ? CallFailsWith("write", ENOSPC) : CallFailsWith("read", EIO)) return -1;
  return NEXT(open)(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = Makes(flags) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (Makes(flags) ? CallFailsWith("write", ENOSPC) : CallFailsWith("read", EIO)) return -1;
  return NEXT(open64)(path, flags, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (Fails("thread")) return EAGAIN;
  return NEXT(pthread_create)(thread, attributes, start, argument);
}

int clock_gettime(clockid_t clock, timespec* time) {
  const int result = NEXT(clock_gettime)(clock, time);
  if (Fails("back")) time->tv_sec -= kThousandDays;
  if (IsKind("ahead")) {
    if (calls.fetch_add(1) + 1 == fault_number) Mark();
    if (calls.load() >= fault_number) time->tv_sec += kThousandDays;
  }
  return result;
}

}  // extern "C"
