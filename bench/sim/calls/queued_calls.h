// Calls about pods through the dispatcher: at most one waits for each pod, bindings go first, and
// nobody waits for a patch.
//
// Purpose: gate SchedulerAsyncAPICalls on, with the reporters whose gates are on. The client's rate
// is the cost model's, as scheduler_perf gives it to scheduler and workload alike.
// Threads: as PodCalls.
// Memory: the call queue's, and callbacks for each binding that has not ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "bench/sim/calls/cluster_sink.h"
#include "bench/sim/calls/pod_calls.h"

namespace schedq {

class QueuedCalls final : public PodCalls, public CallListener {
 public:
  explicit QueuedCalls(const PodCallsOptions& options);

  std::optional<ApiCallOptions> ApiCallsWanted() override;
  void Attach(ApiCalls* calls) override { calls_ = calls; }
  void StopTelling() override { binding_.clear(); }
  void Seen(const PodKey& key, const PodRef& pod) override;

  void PatchCondition(const PodKey& key, const PodRef& pod, PodCondition condition) override;
  void BeginBinding(BindingBegin begin, Begun then) override;
  void ClearNomination(const PodKey& key, const PodRef& pod) override;
  void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) override;

  // Of bindings, and of nominations that took claims along.
  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

 private:
  // Of the pod's binding that has begun. False: one cannot be used, or another call of the pod took
  // over those of a binding that is no more.
  bool StoreClaims(uint64_t pod_number) const;

  const PodCallsOptions options_;
  Clock& clock_;
  std::unordered_map<uint64_t, std::function<bool()>> claims_;  // By the pod's number.
  ClusterSink sink_;
  // Calls that are in flight when the run ends tell these, which therefore outlive the queue.
  std::unordered_map<uint64_t, Then> binding_;  // By the call's tag.
  uint64_t last_binding_ = 0;
  ApiCalls* calls_ = nullptr;  // The assembled queue's.
};

}  // namespace schedq
