#include "bench/dispatch/nomination_scenarios.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dispatcher/clock_dispatcher.h"
#include "dispatcher/report/nomination_reporter.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/base/random.h"
#include "engine/base/virtual_clock.h"

namespace schedq {
namespace {

using std::chrono::seconds;

constexpr Instant kStart{seconds(1'700'000'000)};

// Pods, a server and the dispatcher of one scheduler.
class BindingWorld {
 public:
  explicit BindingWorld(const NominationOptions& options)
      : options_(options),
        random_(options.seed),
        server_({.clock = &clock_, .seed = options.seed, .latency = options.latency}),
        dispatcher_({.clock = &clock_, .in_flight_max = 1000, .calls_per_second = 0}, &server_),
        reporter_(&dispatcher_.queue()) {
    for (uint64_t pod = 0; pod < options.pods; ++pod) {
      Pod made;
      made.namespace_name = "default";
      made.name = made.uid = "pod-" + std::to_string(pod);
      server_.Create(std::move(made));
    }
  }

  VirtualClock& clock() { return clock_; }
  EmbeddedApiServer& server() { return server_; }
  Random& random() { return random_; }
  PodRef PodAt(uint64_t pod) const { return server_.Find("default/pod-" + std::to_string(pod)); }
  static std::string NodeName(uint64_t node) { return "node-" + std::to_string(node); }
  static std::string ClaimName(uint64_t pod) { return "default/claim-" + std::to_string(pod); }

  // The start of a binding cycle, which PreBind makes long if `works`.
  void StartBinding(uint64_t pod, const std::string& node, bool works, bool has_claim) {
    const std::array<PreFlight, 2> answers = {PreFlight::kSkip,
                                              works ? PreFlight::kSuccess : PreFlight::kSkip};
    BindingStart start;
    start.pod = PodAt(pod);
    start.object = static_cast<ObjectId>(pod);
    start.node = node;
    start.pre_flights = answers;
    if (has_claim) start.claims = {{ClaimName(pod), node}};
    if (options_.nominates) {
      const Status started = reporter_.OnBindingStart(std::move(start));
      SCHEDQ_CHECK(started.ok(), "no plugin rejects here");
    }
  }
  void PatchClaim(uint64_t pod, const std::string& node) {
    auto call = CallFor(pod, CallType::kStatusPatch);
    call->placement.Mutable().claims = {{ClaimName(pod), node}};
    dispatcher_.queue().Add(std::move(call));
  }
  void Bind(uint64_t pod, const std::string& node) {
    auto call = CallFor(pod, CallType::kBinding);
    call->placement.Mutable().node = node;
    dispatcher_.queue().Add(std::move(call));
  }
  void After(Duration delay, std::function<void()> action) {
    clock_.At(clock_.Now() + delay, std::move(action));
  }

 private:
  std::unique_ptr<ApiCall> CallFor(uint64_t pod, CallType type) {
    auto call = std::make_unique<ApiCall>();
    call->object = static_cast<ObjectId>(pod);
    call->type = type;
    call->pod = PodAt(pod);
    return call;
  }

  const NominationOptions options_;
  VirtualClock clock_{kStart};
  Random random_;
  EmbeddedApiServer server_;
  ClockDispatcher dispatcher_;
  NominationReporter reporter_;
};

// A node of its own for each pod, in random order.
std::vector<uint64_t> Placements(const NominationOptions& options, Random& random) {
  std::vector<uint64_t> nodes(options.nodes);
  for (uint64_t node = 0; node < options.nodes; ++node) nodes[node] = node;
  random.Shuffle(nodes);
  nodes.resize(options.pods);
  return nodes;
}

}  // namespace

AutoscalerOutcome RunAutoscaler(const NominationOptions& options) {
  BindingWorld world(options);
  AutoscalerOutcome outcome;
  const std::vector<uint64_t> placed = Placements(options, world.random());
  std::set<std::string> gone;
  for (uint64_t pod = 0; pod < options.pods; ++pod) {
    const std::string node = BindingWorld::NodeName(placed[pod]);
    world.StartBinding(pod, node, true, false);
    world.After(options.provisioning, [&world, &gone, pod, node] {
      if (gone.count(node) == 0) world.Bind(pod, node);
    });
  }
  // It looks every 10 s, at what the server says.
  std::map<std::string, Duration> unneeded;
  for (Duration now = seconds(10); now < options.provisioning * 2; now += seconds(10)) {
    world.clock().AdvanceTo(kStart + now);
    std::set<std::string> used;
    for (uint64_t pod = 0; pod < options.pods; ++pod) {
      used.insert(world.PodAt(pod)->node_name);
      used.insert(world.PodAt(pod)->nominated_node_name);
    }
    for (uint64_t number = 0; number < options.nodes; ++number) {
      const std::string node = BindingWorld::NodeName(number);
      if (used.count(node) != 0 || gone.count(node) != 0) {
        unneeded.erase(node);
      } else if (now - unneeded.try_emplace(node, now).first->second >= seconds(30)) {
        gone.insert(node);
        if (std::find(placed.begin(), placed.end(), number) != placed.end()) {
          ++outcome.wrong_scale_downs;
        }
      }
    }
  }
  outcome.bound = world.server().counts().bindings;
  return outcome;
}

RestartOutcome RunRestart(const NominationOptions& options) {
  BindingWorld world(options);
  RestartOutcome outcome;
  const std::vector<uint64_t> before = Placements(options, world.random());
  for (uint64_t pod = 0; pod < options.pods; ++pod) {
    world.StartBinding(pod, BindingWorld::NodeName(before[pod]), true, false);
  }
  const Duration restart = options.provisioning / 2;
  world.clock().AdvanceTo(kStart + restart);
  // All that the first scheduler had in memory is gone. A nominated node is reserved, so no other
  // pod of the same priority is placed there.
  const std::vector<uint64_t> fresh = Placements(options, world.random());
  for (uint64_t pod = 0; pod < options.pods; ++pod) {
    const std::string nominated = world.PodAt(pod)->nominated_node_name;
    const std::string node = nominated.empty() ? BindingWorld::NodeName(fresh[pod]) : nominated;
    const bool goes_on = node == BindingWorld::NodeName(before[pod]);
    if (!goes_on) {
      ++outcome.elsewhere;
      outcome.lost_seconds += std::chrono::duration<double>(restart).count();
    }
    world.StartBinding(pod, node, true, false);
    world.After(goes_on ? options.provisioning - restart : options.provisioning,
                [&world, pod, node] { world.Bind(pod, node); });
  }
  world.clock().RunUntil([&] { return world.server().counts().bindings == options.pods; });
  outcome.finished_after_seconds =
      std::chrono::duration<double>(world.clock().Now() - kStart).count();
  return outcome;
}

ClaimOutcome RunClaims(const NominationOptions& options) {
  BindingWorld world(options);
  ClaimOutcome outcome;
  const std::vector<uint64_t> placed = Placements(options, world.random());
  size_t reserved = 0;
  world.server().Trace([&](const PodRef&, const PodRef&) {
    const size_t now_reserved = world.server().claim_nodes().size();
    const double waited = std::chrono::duration<double>(world.clock().Now() - kStart).count();
    outcome.unreserved_claim_seconds += static_cast<double>(now_reserved - reserved) * waited;
    reserved = now_reserved;
  });
  for (uint64_t pod = 0; pod < options.pods; ++pod) {
    const std::string node = BindingWorld::NodeName(placed[pod]);
    world.StartBinding(pod, node, true, options.claims_go_first);
    const bool claim_is_out = options.nominates && options.claims_go_first;
    world.After(options.provisioning, [&world, pod, node, claim_is_out] {
      if (!claim_is_out) world.PatchClaim(pod, node);
      // One call at a time for a pod: the binding follows the claim's patch.
      world.After(seconds(1), [&world, pod, node] { world.Bind(pod, node); });
    });
  }
  world.clock().AdvanceBy(options.provisioning * 2);
  outcome.calls = world.server().counts().patches + world.server().counts().bindings;
  return outcome;
}

CallsPerPod CountCallsPerPod(const NominationOptions& options) {
  CallsPerPod result;
  for (const bool works : {false, true}) {
    BindingWorld world(options);
    const std::vector<uint64_t> placed = Placements(options, world.random());
    for (uint64_t pod = 0; pod < options.pods; ++pod) {
      const std::string node = BindingWorld::NodeName(placed[pod]);
      world.StartBinding(pod, node, works, false);
      world.After(works ? options.provisioning : Duration(0),
                  [&world, pod, node] { world.Bind(pod, node); });
    }
    world.clock().AdvanceBy(options.provisioning * 2);
    const ServerCounts& counts = world.server().counts();
    (works ? result.busy : result.idle) =
        static_cast<double>(counts.patches + counts.bindings) / static_cast<double>(options.pods);
  }
  return result;
}

}  // namespace schedq
