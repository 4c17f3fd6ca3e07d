// An API server inside the program: the default sink of calls.
//
// Purpose: it keeps pods with conditions, events, nominated nodes, bindings and claims'
// allocations. It behaves like a server: latency, errors, conflicts, throttling (429), outages. It
// puts a SchedulingGated condition on pods with gates, and clears a pod's nominated node at its
// binding. Watchers are told of every change after a delay. Equal seeds and calls give equal
// answers.
// When not to use it: for workloads of whole clusters, which bench/sim/cluster simulates.
// A call takes effect when it is answered; a call that fails has no effect.
// Threads: one, on which the clock's actions run.
// Memory: that of the pods, of their events and of the changes that watchers are still to be told
// of.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/api_sink.h"
#include "dispatcher/rate_limit.h"
#include "engine/base/names/name_key.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {

struct ServerOptions {
  Clock* clock = nullptr;
  uint64_t seed = 1;
  // A call takes `latency` and, on top, an exponential time with mean `latency_extra`.
  Duration latency = std::chrono::milliseconds(10);
  Duration latency_extra{};
  double error_rate = 0;
  double conflict_rate = 0;
  // Beyond this rate calls are refused as too many; 0: none is.
  double calls_per_second_max = 0;
  uint32_t burst = 1;
  Duration watch_delay = std::chrono::milliseconds(5);
  bool clears_nomination_at_bind = true;
};

struct ServerCounts {
  uint64_t patches = 0;
  uint64_t events = 0;
  uint64_t bindings = 0;
  uint64_t deletions = 0;
  uint64_t failures = 0;  // Of any kind, including the kinds below.
  uint64_t throttled = 0;
  uint64_t conflicts = 0;
  uint64_t unavailable = 0;

  bool operator==(const ServerCounts&) const = default;
};

// An event about a pod. An equal event that comes later raises the count.
struct PodEvent {
  std::string reason;
  std::string message;
  uint64_t count = 0;

  bool operator==(const PodEvent&) const = default;
};

// The message of the server's SchedulingGated condition.
inline constexpr std::string_view kSchedulingGatedMessage =
    "Scheduling is blocked due to non-empty scheduling gates";

class EmbeddedApiServer final : public ApiSink {
 public:
  // A pod's versions before and after a change; no `before` on creation, no `after` on deletion.
  using Watcher = std::function<void(const PodRef& before, const PodRef& after)>;

  explicit EmbeddedApiServer(const ServerOptions& options);

  // `watcher` is told of every change after the watch delay, in the order of changes.
  void Watch(Watcher watcher) { watchers_.push_back(std::move(watcher)); }
  // `tracer` is told of every change when it is made.
  void Trace(Watcher tracer) { tracers_.push_back(std::move(tracer)); }

  // Returns the pod as stored; null: a pod has this name already.
  PodRef Create(Pod pod);
  // False: there is no such pod.
  bool Delete(const std::string& name);
  // Calls that would be answered in [from, until) fail.
  void AddOutage(Instant from, Instant until) { outages_.emplace_back(from, until); }

  void Execute(const ApiCall& call, std::function<void(const Status&)> done) override;

  // By "namespace/name"; null: there is none.
  PodRef Find(const std::string& name) const;
  // The events about the pod, by "namespace/name", in the order in which they first came. They are
  // deleted with the pod.
  const std::vector<PodEvent>& EventsOf(const std::string& name) const;
  const std::map<std::string, std::string>& claim_nodes() const { return claim_nodes_; }
  const ServerCounts& counts() const { return counts_; }

 private:
  Status Answer(const ApiCall& call);
  Status Refuse();
  Status Apply(const ApiCall& call, const PodRef& pod);
  void Patch(const ApiCall& call, const PodRef& pod);
  void StoreEvent(const Pod& pod, const ConditionPatch& said);
  void Store(const PodRef& before, const PodRef& after);

  const ServerOptions options_;
  Clock& clock_;
  const Instant epoch_;
  Random random_;
  RateLimit rate_;
  std::vector<std::pair<Instant, Instant>> outages_;
  std::vector<Watcher> watchers_;
  std::vector<Watcher> tracers_;
  std::unordered_map<std::string, PodRef, NameHash> pods_;                   // By "namespace/name".
  std::unordered_map<std::string, std::vector<PodEvent>, NameHash> events_;  // Likewise.
  std::map<std::string, std::string> claim_nodes_;  // Where each claim was allocated.
  ServerCounts counts_;
};

// "namespace/name".
std::string NameOf(const Pod& pod);

}  // namespace schedq
