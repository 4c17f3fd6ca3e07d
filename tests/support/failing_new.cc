#include "tests/support/failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace schedq {
namespace {

// Of the calls until the one that fails; 0: none does.
thread_local uint64_t left = 0;

bool Fails() { return left != 0 && --left == 0; }

void* Allocate(size_t bytes) {
  if (Fails()) throw std::bad_alloc();
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

FailingNew::FailingNew(uint64_t n) { left = n; }
FailingNew::~FailingNew() { left = 0; }
bool FailingNew::has_failed() const { return left == 0; }

}  // namespace schedq

// The linker gives the program's calls of calloc to this one, and that of the system its name.
extern "C" void* __real_calloc(size_t count, size_t bytes);
extern "C" void* __wrap_calloc(size_t count, size_t bytes) {
  return schedq::Fails() ? nullptr : __real_calloc(count, bytes);
}

void* operator new(size_t bytes) { return schedq::Allocate(bytes); }
void* operator new[](size_t bytes) { return schedq::Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
