// What the scheduler tells the API server about pods: conditions, nominations, bindings.
//
// Purpose: one interface for the two ways that a scheduler has: through the dispatcher
// (queued_calls.h, gate SchedulerAsyncAPICalls) or each call by whoever needs it (direct_calls.h).
// Threads: one, that which advances the clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/scheduler/cost_model.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "engine/pod_key.h"
#include "schedq/api_calls.h"

namespace schedq {

struct PodCallsOptions {
  Cluster* cluster = nullptr;
  const CostModel* costs = nullptr;
  Gates gates;
  StatusModel status_model = StatusModel::kImplicitDelayed;
  Random* random = nullptr;            // What the scheduler draws latencies from.
  MetricsRegistry* metrics = nullptr;  // Outlives it, as all others do.
};

// The start of a binding. Where there are claims, PreBind has work to do.
struct BindingBegin {
  PodKey key;
  PodRef pod;
  std::string node;
  std::vector<std::string> claims;     // "namespace/name"
  std::function<bool()> store_claims;  // On the cluster, now. False: one cannot be used.
};

// How the start of a binding ended for its claims.
enum class ClaimsAfterBegin : uint8_t { kToStore, kStored, kFailed };

class PodCalls {
 public:
  using Then = std::function<void(const Status&)>;
  using Begun = std::function<void(ClaimsAfterBegin claims)>;

  virtual ~PodCalls() = default;

  // What the assembled queue needs for it; nullopt: no dispatcher.
  virtual std::optional<ApiCallOptions> ApiCallsWanted() { return std::nullopt; }
  // The dispatcher that was wanted. Before the first call.
  virtual void Attach(ApiCalls*) {}
  // The run is over: nobody is told any more of how a call ends.
  virtual void StopTelling() {}
  // The informers told of a newer version.
  virtual void Seen(const PodKey& key, const PodRef& pod) = 0;

  // Nobody waits for it. `pod` is the newest version.
  virtual void PatchCondition(const PodKey& key, const PodRef& pod, PodCondition condition) = 0;
  // Shows the node on the pod, where the gate is on and there is work to do; the dispatcher's patch
  // takes the claims along.
  virtual void BeginBinding(BindingBegin begin, Begun then) = 0;
  // Takes back what BeginBinding showed.
  virtual void ClearNomination(const PodKey& key, const PodRef& pod) = 0;
  virtual void Bind(const PodKey& key, const PodRef& pod, const std::string& node, Then then) = 0;
};

// The way that the gates want.
std::unique_ptr<PodCalls> MakePodCalls(const PodCallsOptions& options);

}  // namespace schedq
