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
#include "dispatcher/report/pre_flight.h"
#include "engine/base/result.h"

namespace schedq {

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

struct NominationCounts {
  uint64_t made = 0;     // Calls made to the API server, whatever came of them.
  uint64_t dropped = 0;  // Asked for and not made: another's took them along, or nothing changed.
  uint64_t saved = 0;    // Bindings that needed no call.

  bool operator==(const NominationCounts&) const = default;
};

class NominationReporter final : public CallListener {
 public:
  // It must outlive its calls.
  explicit NominationReporter(CallQueue<>* queue) : queue_(*queue) {}

  // An error: the cycle fails, and nothing was patched.
  Status OnBindingStart(BindingStart start);
  void OnFailedCycle(const FailedCycle& cycle);

  // Counts, and tells whoever started the binding.
  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

  // Not a snapshot while calls end.
  NominationCounts counts() const;

 private:
  CallQueue<>& queue_;
  // Counted by whoever reports or ends a call.
  std::atomic<uint64_t> made_{0};
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> saved_{0};
};

}  // namespace schedq
