#include "bench/kep/dispatch/nomination_scenarios.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/kep/dispatch/binding_scheduler.h"
#include "dispatcher/api_call.h"
#include "dispatcher/server/embedded_api_server.h"
#include "dispatcher/server/pod_patch.h"
#include "engine/base/random.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"

namespace schedq {
namespace {

using std::chrono::seconds;

constexpr Instant kStart{seconds(1'700'000'000)};
constexpr Duration kArrivals = seconds(60);
constexpr Duration kRestartAfter = seconds(60);
constexpr Duration kDown = seconds(5);
constexpr Duration kLongest = std::chrono::hours(1);

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The world of a story: the server with nodes, pods and volumes, and one scheduler after the other.
class SlowCluster {
 public:
  explicit SlowCluster(const NominationOptions& options)
      : options_(options),
        random_(options.seed),
        server_({.clock = &clock_,
                 .seed = options.seed,
                 .latency = options.latency,
                 .error_rate = options.error_rate}) {
    server_.Watch([this](const PodRef& before, const PodRef& after) {
      if (!schedulers_.empty()) schedulers_.back()->OnChange(before, after);
    });
    for (uint64_t node = 0; node < options.nodes; ++node) {
      nodes_.push_back("node-" + std::to_string(node));
    }
  }

  VirtualClock& clock() { return clock_; }
  EmbeddedApiServer& server() { return server_; }
  const std::vector<std::string>& nodes() const { return nodes_; }
  const std::vector<std::string>& pods() const { return pods_; }
  BindingScheduler& scheduler() { return *schedulers_.back(); }
  PodRef PodNamed(const std::string& name) const { return server_.Find("default/" + name); }
  void After(Duration delay, std::function<void()> action) {
    clock_.At(clock_.Now() + delay, std::move(action));
  }

  // Stops the scheduler, if there is one, and starts another, which reads the server's objects.
  void StartScheduler(bool has_claims = false, bool claims_go_first = true) {
    StopScheduler();
    BindingSchedulerOptions options;
    options.engine = options_.engine;
    options.clock = &clock_;
    options.server = &server_;
    options.volumes = &volumes_;
    options.random = random_.Fork(schedulers_.size());
    options.nominates = options_.nominates;
    options.has_claims = has_claims;
    options.claims_go_first = claims_go_first;
    options.volume_takes = [this](const Pod& pod) { return takes_.at(pod.name); };
    schedulers_.push_back(std::make_unique<BindingScheduler>(options));
    for (const std::string& node : nodes_) scheduler().AddNode(node);
    for (const std::string& pod : pods_) {
      if (const PodRef found = PodNamed(pod)) scheduler().OnChange(nullptr, found);
    }
  }
  void StopScheduler() {
    if (!schedulers_.empty()) schedulers_.back()->Stop();
  }

  void CreatePod(const std::string& name, int32_t priority = 0) {
    const auto shortest = static_cast<uint64_t>(options_.provisioning.count() / 2);
    const Duration drawn(static_cast<int64_t>(shortest + random_.Below(2 * shortest + 1)));
    takes_[name] = options_.provisioning == Duration(0) ? Duration(0) : drawn;
    pods_.push_back(name);
    Pod pod;
    pod.namespace_name = "default";
    pod.name = pod.uid = name;
    pod.priority = priority;
    server_.Create(std::move(pod));
  }
  // Adds the first pods, one after the other.
  void CreatePodsOverTime() {
    const Duration gap = kArrivals / static_cast<int64_t>(options_.pods);
    for (uint64_t pod = 0; pod < options_.pods; ++pod) {
      const Duration comes = gap * static_cast<int64_t>(pod);
      After(comes, [this, pod] { CreatePod("pod-" + std::to_string(pod)); });
    }
  }
  void AddNode() {
    nodes_.push_back("node-" + std::to_string(options_.nodes + added_++));
    scheduler().AddNode(nodes_.back());
  }
  void RemoveNode(const std::string& node) {
    std::erase(nodes_, node);
    scheduler().RemoveNode(node);
  }

  BindingOutcome RunUntilBound(uint64_t pods) {
    clock_.RunUntil([&] { return server_.counts().bindings >= pods; }, kStart + kLongest);
    const ServerCounts& counts = server_.counts();
    BindingOutcome outcome;
    outcome.bound = counts.bindings;
    outcome.moved = volumes_.moved();
    outcome.lost_seconds = volumes_.lost_seconds();
    outcome.finished_after = Seconds(clock_.Now() - kStart);
    outcome.calls_per_pod =
        static_cast<double>(counts.patches + counts.bindings) / static_cast<double>(pods);
    for (const auto& scheduler : schedulers_) {
      const NominationCounts nominations = scheduler->nominations();
      outcome.nominations.made += nominations.made;
      outcome.nominations.dropped += nominations.dropped;
      outcome.nominations.saved += nominations.saved;
    }
    return outcome;
  }

 private:
  const NominationOptions options_;
  VirtualClock clock_{kStart};
  Random random_;
  EmbeddedApiServer server_;
  VolumeWork volumes_;
  std::vector<std::string> nodes_;
  std::vector<std::string> pods_;          // In order of creation.
  std::map<std::string, Duration> takes_;  // The time of a pod's volume, by the pod's name.
  uint64_t added_ = 0;                     // The number of nodes beyond the first ones.
  std::vector<std::unique_ptr<BindingScheduler>> schedulers_;
};

// Removes nodes that seem unneeded, and adds one for each pod that fits nowhere. After an addition
// it removes none for a while, as cluster autoscalers do.
class Autoscaler {
 public:
  Autoscaler(SlowCluster* world, bool looks_at_nominations)
      : world_(*world), looks_at_nominations_(looks_at_nominations) {
    world_.clock().Every(kStart + kPeriod, kPeriod, [this] { ScaleOnce(); });
  }

  uint64_t removed() const { return removed_; }
  uint64_t wrong() const { return wrong_; }

 private:
  static constexpr Duration kPeriod = seconds(10);
  static constexpr Duration kUnneeded = seconds(30);
  static constexpr Duration kAfterAdding = seconds(120);

  void ScaleOnce() {
    std::set<std::string> needed;
    for (const std::string& name : world_.pods()) {
      const PodRef pod = world_.PodNamed(name);
      if (pod == nullptr) continue;
      const PodCondition* condition = UnscheduledCondition(*pod);
      if (condition != nullptr && condition->reason == kUnschedulableReason) {
        world_.AddNode();
        added_at_ = world_.clock().Now();
      }
      needed.insert(pod->node_name);
      if (looks_at_nominations_) needed.insert(pod->nominated_node_name);
    }
    const std::vector<std::string> nodes = world_.nodes();
    for (const std::string& node : nodes) {
      if (needed.count(node) != 0) {
        since_.erase(node);
        continue;
      }
      const Instant now = world_.clock().Now();
      const Instant since = since_.try_emplace(node, now).first->second;
      if (now - since >= kUnneeded && now - added_at_ >= kAfterAdding) {
        ++removed_;
        if (world_.scheduler().HasPlacedOn(node)) ++wrong_;
        world_.RemoveNode(node);
      }
    }
  }

  SlowCluster& world_;
  const bool looks_at_nominations_;
  std::map<std::string, Instant> since_;  // The instant since which each node is unneeded.
  Instant added_at_{};                    // The instant of the last addition.
  uint64_t removed_ = 0;
  uint64_t wrong_ = 0;
};

}  // namespace

AutoscalerOutcome RunAutoscaler(const NominationOptions& options, bool looks_at_nominations) {
  SlowCluster world(options);
  world.StartScheduler();
  world.CreatePodsOverTime();
  const Autoscaler autoscaler(&world, looks_at_nominations);
  AutoscalerOutcome outcome;
  outcome.bindings = world.RunUntilBound(options.pods);
  outcome.removed = autoscaler.removed();
  outcome.wrong = autoscaler.wrong();
  return outcome;
}

BindingOutcome RunRestart(const NominationOptions& options) {
  SlowCluster world(options);
  world.StartScheduler();
  world.CreatePodsOverTime();
  world.After(kRestartAfter, [&world] { world.StopScheduler(); });
  world.After(kRestartAfter + kDown, [&world] { world.StartScheduler(); });
  return world.RunUntilBound(options.pods);
}

ContentionOutcome RunContention(const NominationOptions& options, int32_t priority) {
  const uint64_t newcomers = options.pods / 2;
  NominationOptions tight = options;
  tight.nodes = options.pods + newcomers - newcomers / 4;
  SlowCluster world(tight);
  world.StartScheduler();
  world.CreatePodsOverTime();
  world.After(kRestartAfter, [&world, newcomers, priority] {
    world.StopScheduler();
    for (uint64_t pod = 0; pod < newcomers; ++pod) {
      world.CreatePod("newcomer-" + std::to_string(pod), priority);
    }
  });
  world.After(kRestartAfter + kDown, [&world] { world.StartScheduler(); });
  ContentionOutcome outcome;
  outcome.bindings = world.RunUntilBound(tight.nodes);
  for (const std::string& name : world.pods()) {
    const PodRef pod = world.PodNamed(name);
    if (name.starts_with("newcomer") && !pod->node_name.empty()) ++outcome.newcomers_bound;
  }
  return outcome;
}

ClaimOutcome RunClaims(const NominationOptions& options, bool claims_go_first) {
  SlowCluster world(options);
  ClaimOutcome outcome;
  std::set<std::string> stored;
  world.server().Trace([&](const PodRef&, const PodRef& after) {
    if (after == nullptr) return;
    const auto& claims = world.server().claim_nodes();
    const auto claim = claims.find(ClaimNameOf(*after));
    if (!after->node_name.empty() && (claim == claims.end() || claim->second != after->node_name)) {
      ++outcome.bound_unreserved;
    }
    if (claim == claims.end() || !stored.insert(after->name).second) return;
    const Instant decided = world.scheduler().decided().at(after->name);
    outcome.unreserved_seconds += Seconds(world.clock().Now() - decided);
  });
  world.StartScheduler(/*has_claims=*/true, claims_go_first);
  world.CreatePodsOverTime();
  outcome.bindings = world.RunUntilBound(options.pods);
  return outcome;
}

BindingOutcome RunBindings(const NominationOptions& options) {
  SlowCluster world(options);
  world.StartScheduler();
  world.CreatePodsOverTime();
  return world.RunUntilBound(options.pods);
}

}  // namespace schedq
