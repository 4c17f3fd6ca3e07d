// Shows on a pod where it is going to be bound (KEP-5278).
//
// Purpose: at the start of a binding cycle that will take time, the nominated node is patched
// together with the claims' allocation. After a failed cycle it is cleared. A failed patch does not
// stop the binding. When not to use it: with the gate NominatedNodeNameForExpectation off.
// Threads: any; calls for one pod in order. Memory: counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/report/pre_flight.h"
#include "engine/base/result.h"
#include "engine/pod.h"

namespace schedq {

struct BindingStart {
  PodRef pod;
  ObjectId object = 0;
  std::string node;
  bool permit_waits = false;  // A Permit plugin said Wait.
  std::span<const PreFlight> pre_flights;
  std::vector<ClaimAllocation> claims;
  // Told how the call ended, if one is made. A failed nomination does not stop the binding, but a
  // pod must not be bound before its claims are stored.
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

struct NominationCounts {
  uint64_t made = 0;     // Calls made to the API server, successful or not.
  uint64_t dropped = 0;  // Asked for and not made: overwritten, or nothing would have changed.
  uint64_t saved = 0;    // Bindings that needed no call.

  bool operator==(const NominationCounts&) const = default;
};

class NominationReporter final : public CallListener {
 public:
  // It must outlive its calls.
  explicit NominationReporter(CallQueue<>* queue) : queue_(*queue) {}

  // An error means that the cycle fails; nothing was patched then.
  Status OnBindingStart(BindingStart start);
  void OnFailedCycle(const FailedCycle& cycle);

  // Counts the call, and tells the listener of the binding's start.
  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

  // Not a snapshot while calls end.
  NominationCounts counts() const;

 private:
  CallQueue<>& queue_;
  // Raised by the threads that report and by those that end calls.
  std::atomic<uint64_t> made_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> saved_{0};
};

}  // namespace schedq
