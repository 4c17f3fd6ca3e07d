// Calls about pods through the dispatcher: at most one call a pod waits, and the scheduler waits
// for no patch.
//
// Purpose: the gate SchedulerAsyncAPICalls is on, with the reporters whose gates are on. Bindings
// go first, or all go in the order of arrival (call_settings.h). The client's rate is the cost
// model's, because scheduler_perf gives the same one to scheduler and workload.
// Threads: as PodCalls.
// Memory: the call queue's, and callbacks for each binding, and each patch that a pod waits for,
// that has not ended.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "bench/sim/calls/arrival_sink.h"
#include "bench/sim/calls/client_tokens.h"
#include "bench/sim/calls/cluster_sink.h"
#include "bench/sim/calls/pod_calls.h"
#include "dispatcher/api_call.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
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
  void DropCallbacks() override { waiting_.clear(); }
  void Rethrow() const override {
    if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  }
  void OnNewVersion(const PodKey& key, const PodRef& pod) override;

  void PatchCondition(const PodKey& key, const PodRef& pod, FailureText failure,
                      std::function<void()> ended) override;
  bool gates_reentry() const override { return options_.settings.gates_reentry; }
  void BeginBinding(const PodKey& key, const PodRef& pod, const std::string& node, bool has_work,
                    std::function<void()> then) override;
  void ShowNode(const PodKey& key, const PodRef& pod, const std::string& node) override;
  void EndFailedCycle(const PodKey& key, const PodRef& pod,
                      const FailedNomination& nomination) override;
  void ClearNomination(const PodKey& key, const PodRef& pod) override;
  void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) override;

  // The ended call is a binding, or a patch that somebody waits for.
  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

 private:
  Duration NextToken() override;
  void TakeEventToken() override;
  bool goes_by_arrival() const { return options_.settings.order == CallOrder::kArrival; }
  uint64_t WaitWith(Then then);

  const PodCallsOptions options_;
  const ClientRate rate_;
  Clock& clock_;
  ClusterSink sink_;
  ArrivalSink arrivals_;  // Before the sink, where calls go by arrival.
  // The callbacks, by the call's tag. They outlive the queue, because calls may be in flight when
  // the run ends.
  std::unordered_map<uint64_t, Then> waiting_;
  uint64_t last_tag_ = 0;
  std::exception_ptr thrown_;  // The first.
  ApiCalls* calls_ = nullptr;  // Owned by the assembled queue.
};

}  // namespace schedq
