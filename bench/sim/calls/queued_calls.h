// Calls about pods through the dispatcher: at most one call a pod waits, bindings go first, and the
// scheduler waits for no patch.
//
// Purpose: the gate SchedulerAsyncAPICalls is on, with the reporters whose gates are on. The
// client's rate is the cost model's, because scheduler_perf gives the same one to scheduler and
// workload.
// Threads: as PodCalls.
// Memory: the call queue's, and callbacks for each binding that has not ended.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "bench/sim/calls/cluster_sink.h"
#include "bench/sim/calls/pod_calls.h"
#include "dispatcher/api_call.h"
#include "engine/base/result.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "schedq/api_calls.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"

namespace schedq {

class QueuedCalls final : public PodCalls, public CallListener {
 public:
  explicit QueuedCalls(const PodCallsOptions& options);

  std::optional<ApiCallOptions> ApiCallsWanted() override;
  void Attach(ApiCalls* calls) override { calls_ = calls; }
  void DropCallbacks() override { binding_.clear(); }
  void Rethrow() const override {
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }
  void OnNewVersion(const PodKey& key, const PodRef& pod) override;

  void PatchCondition(const PodKey& key, const PodRef& pod, PodCondition condition) override;
  void BeginBinding(BindingBegin begin, Begun then) override;
  void ShowNode(const PodKey& key, const PodRef& pod, const std::string& node) override;
  void EndFailedCycle(const PodKey& key, const PodRef& pod,
                      const FailedNomination& nomination) override;
  void ClearNomination(const PodKey& key, const PodRef& pod) override;
  void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) override;

  // The ended call is a binding, or a nomination that included claims.
  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

 private:
  // Stores the claims of the pod's binding. False: one cannot be used, or the binding has ended and
  // a later call of the pod still has its claims.
  bool StoreClaims(uint64_t pod_number) const;

  const PodCallsOptions options_;
  Clock& clock_;
  std::unordered_map<uint64_t, std::function<bool()>> claims_;  // By the pod's number.
  ClusterSink sink_;
  // The callbacks of bindings, by the call's tag. They outlive the queue, because calls may be in
  // flight when the run ends.
  std::unordered_map<uint64_t, Then> binding_;
  uint64_t last_binding_ = 0;
  std::exception_ptr thrown_;  // The first.
  ApiCalls* calls_ = nullptr;  // Owned by the assembled queue.
};

}  // namespace schedq
