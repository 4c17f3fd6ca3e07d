// Calls about pods without a dispatcher: each is made at once, and its caller waits for it where
// the result matters.
//
// Purpose: the gate SchedulerAsyncAPICalls is off. The scheduling thread waits for the patch of a
// failed pod, which has condition and nomination in one call, and is not made where it would change
// nothing.
// Threads: as PodCalls.
// Memory: the calls under way.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/workload/fault.h"
#include "bench/sim/calls/call_runner.h"
#include "bench/sim/calls/client_tokens.h"
#include "bench/sim/calls/pod_calls.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "schedq/attempt.h"

namespace schedq {

class DirectCalls final : public PodCalls {
 public:
  explicit DirectCalls(const PodCallsOptions& options);

  void OnNewVersion(const PodKey&, const PodRef&) override {}
  void PatchCondition(const PodKey& key, const PodRef& pod, FailureText failure,
                      std::function<void()> ended) override;
  void WaitForPatches(const std::function<void()>& then) override;
  void BeginBinding(const PodKey& key, const PodRef& pod, const std::string& node, bool has_work,
                    std::function<void()> then) override;
  void ShowNode(const PodKey& key, const PodRef& pod, const std::string& node) override;
  void EndFailedCycle(const PodKey& key, const PodRef& pod,
                      const FailedNomination& nomination) override;
  void ClearNomination(const PodKey& key, const PodRef& pod) override;
  void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) override;

 private:
  Duration NextToken() override { return tokens_.Take(); }
  void TakeEventToken() override {
    if (!options_.settings.events_have_client) tokens_.Take();
  }

  struct Patch {
    PodRef pod;
    std::optional<PodCondition> condition;
    std::optional<std::string> node;  // "" clears.
  };

  // After the token. `act` gets an error where the call was refused.
  void Make(CallKind kind, const char* call, const CallLatency& latency, CallRunner::Act act);
  void Send(Patch patch, std::function<void()> then);
  void SendFrom(const std::shared_ptr<std::vector<Patch>>& patches, size_t index,
                std::function<void()> then);
  void Nominate(const PodRef& pod, const std::string& node, std::function<void()> then);

  const PodCallsOptions options_;
  ClientTokens tokens_;
  CallRunner runner_{options_.cluster, options_.random, [this] { return tokens_.Take(); }};
  // What attempts have shown and nobody waits for yet, in order.
  std::vector<Patch> unsent_;
};

}  // namespace schedq
