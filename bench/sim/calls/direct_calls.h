// Calls about pods without a dispatcher: each is made at once, and its caller waits for it where
// the result matters.
//
// Purpose: the gate SchedulerAsyncAPICalls is off.
// Threads: as PodCalls.
#pragma once

#include <functional>
#include <string>

#include "bench/sim/calls/pod_calls.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "schedq/attempt.h"

namespace schedq {

class DirectCalls final : public PodCalls {
 public:
  explicit DirectCalls(const PodCallsOptions& options) : options_(options) {}

  void OnNewVersion(const PodKey&, const PodRef&) override {}
  void PatchCondition(const PodKey& key, const PodRef& pod, PodCondition condition) override;
  void BeginBinding(BindingBegin begin, Begun then) override;
  void ShowNode(const PodKey& key, const PodRef& pod, const std::string& node) override;
  void EndFailedCycle(const PodKey& key, const PodRef& pod,
                      const FailedNomination& nomination) override;
  void ClearNomination(const PodKey& key, const PodRef& pod) override;
  void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) override;

 private:
  void After(const CallLatency& latency, std::function<void()> action);
  void Nominate(const PodRef& pod, const std::string& node, std::function<void()> then);

  const PodCallsOptions options_;
};

}  // namespace schedq
