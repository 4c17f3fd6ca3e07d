// Goal: the port that reports pods' rejections costs nothing while it has no observer: Add makes no
// more allocations than an engine without the port, for accepted and for rejected pods.
// Method: this program's operator new counts, and the same pods go into both engines. An observer
// is the control. `schedq profile dispatch --only gates-off --callgrind` counts the instructions,
// and the scenarios of bench/kep/dispatch show that no call is made.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "bench/lab/paths/reporting_port.h"
#include "engine/ports.h"

namespace {

thread_local uint64_t allocations = 0;

void* Allocate(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes); }
void* operator new[](size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace schedq {
namespace {

constexpr int64_t kPods = 1000;

uint64_t AllocationsOf(UnobservedAdds adds) {
  adds.pods = kPods;
  AddUnobserved path(adds);
  const uint64_t before = allocations;
  path.Run();
  const uint64_t taken = allocations - before;
  EXPECT_EQ(path.Outcome().fault, nullptr);
  return taken;
}

TEST(GatesOffTest, NoObserverMeansNoFurtherAllocation) {
  for (const bool are_gated : {false, true}) {
    UnobservedAdds adds;
    adds.are_gated = are_gated;
    const uint64_t with_port = AllocationsOf(adds);
    adds.port = ReportingPort::kCompiledOut;
    EXPECT_EQ(with_port, AllocationsOf(adds));
  }
}

TEST(GatesOffTest, TheControlWithAnObserverAllocates) {
  QueueObserver observer;
  UnobservedAdds adds;
  adds.are_gated = true;
  const uint64_t unobserved = AllocationsOf(adds);
  adds.observers = {&observer};
  EXPECT_GE(AllocationsOf(adds), unobserved + kPods) << "an explanation each";
}

}  // namespace
}  // namespace schedq
