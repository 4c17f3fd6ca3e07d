// Shows on a pod where it is going to be bound (KEP-5278).
//
// Purpose: at the start of a binding cycle that will take time the nominated node is patched,
// together with the claims' allocation; after a failed cycle it is cleared. A patch that fails
// stops nothing. When not to use it: with the gate NominatedNodeNameForExpectation off.
// Threads: any; calls for one pod in order. Memory: counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatcher/call_queue.h"
#include "engine/base/result.h"

namespace schedq {

// What a PreBind plugin says before it works on a pod.
enum class PreFlight : uint8_t {
  kSuccess,  // It has something to do.
  kSkip,     // It has nothing to do for this pod.
  kError,    // It fails or rejects.
};

struct BindingStart {
  PodRef pod;
  ObjectId object = 0;
  std::string node;
  bool permit_waits = false;  // A Permit plugin said Wait.
  std::span<const PreFlight> pre_flights;
  std::vector<ClaimAllocation> claims;
  // Told how the call ended, if one is made. A nomination stops nothing when it fails, but a pod
  // must not be bound before its claims are stored.
  CallListener* listener = nullptr;
  uint64_t tag = 0;
};

enum class CycleFailure : uint8_t { kUnschedulable, kError, kBinding };

struct FailedCycle {
  PodRef pod;
  ObjectId object = 0;
  CycleFailure failure = CycleFailure::kUnschedulable;
  std::string post_filter_node;  // Empty: PostFilter nominated none.
  bool victims_are_going = false;
};

class NominationReporter {
 public:
  explicit NominationReporter(CallQueue<>* queue) : queue_(*queue) {}

  // An error: the cycle fails, and nothing was patched.
  Status OnBindingStart(BindingStart start);
  void OnFailedCycle(const FailedCycle& cycle);

  // Calls that were asked for, and bindings that needed none.
  uint64_t calls() const { return calls_.load(); }
  uint64_t saved() const { return saved_.load(); }

 private:
  void Send(ApiCall&& call);

  CallQueue<>& queue_;
  // Counted by whoever reports.
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> saved_{0};
};

}  // namespace schedq
