// Goal: who does not report pods' rejections does not pay for it: with no observer a pod that is
// added, let in or rejected, costs no allocation that an engine without the port does not make.
// Method: operator new of this program counts; the same pods go into both engines. What an observer
// costs is the control. How many instructions it is says `schedq profile dispatch --only gates-off
// --callgrind`; that nobody calls, the scenarios.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "bench/lab/paths/reporting_port.h"

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

TEST(GatesOffTest, NobodyWhoObservesIsNoAllocation) {
  for (const bool are_gated : {false, true}) {
    UnobservedAdds adds;
    adds.are_gated = are_gated;
    const uint64_t with_port = AllocationsOf(adds);
    adds.port = ReportingPort::kCompiledOut;
    EXPECT_EQ(with_port, AllocationsOf(adds));
  }
}

TEST(GatesOffTest, WhoObservesRejectionsIsSeenToAllocate) {
  QueueObserver observer;
  UnobservedAdds adds;
  adds.are_gated = true;
  const uint64_t unobserved = AllocationsOf(adds);
  adds.observers = {&observer};
  EXPECT_GE(AllocationsOf(adds), unobserved + kPods) << "an explanation each";
}

}  // namespace
}  // namespace schedq
