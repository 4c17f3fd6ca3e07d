#include "bench/lab/paths/plugin_storm.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/queue.h"
#include "hints/plugin.h"
#include "hints/registry.h"

namespace schedq {
namespace {

std::string ZoneOf(size_t number) { return "zone-" + std::to_string(number); }

std::vector<PodRef> MakeZonedPods(int64_t count) {
  std::vector<PodRef> pods;
  for (const PodRef& each : MakePods(count, ClaimUse::kOwnClaim)) {
    auto pod = std::make_shared<Pod>(*each);
    pod->labels = {{"zone", ZoneOf(pods.size())}};
    pods.push_back(std::move(pod));
  }
  return pods;
}

// The first action of several.
Action OneOf(Action actions) {
  if (actions == Action::kAll || actions == Action::kUpdate) return Action::kUpdate;
  const auto bits = static_cast<uint32_t>(actions);
  return static_cast<Action>(uint32_t{1} << std::countr_zero(bits));
}

// What is measured of the plugin.
ClusterEvent EventOf(const Plugin& plugin) {
  const ClusterEvent update = MakeEvent(Resource::kResourceClaim, Action::kUpdate);
  for (const EventRegistration& each : plugin.events) {
    if (Matches(each.resource, each.actions, update)) return update;
  }
  SCHEDQ_CHECK(!plugin.events.empty(), "a plugin that is measured has registrations");
  const EventRegistration& first = plugin.events.front();
  if (first.resource == Resource::kWildcard) return update;
  return MakeEvent(first.resource, OneOf(first.actions));
}

std::shared_ptr<ObjectView> MakeObject(const ClusterEvent& event, size_t number) {
  auto object = std::make_shared<ObjectView>();
  object->resource = event.resource;
  if (event.resource != Resource::kNode) object->namespace_name = "benchmark";
  object->name =
      (event.resource == Resource::kResourceClaim ? "claim-" : "object-") + std::to_string(number);
  object->labels = {{"zone", ZoneOf(number)}};
  return object;
}

// Random order, as claims come.
std::vector<ObjectChange> MakeChanges(const ClusterEvent& event, int64_t count) {
  std::vector<ObjectChange> changes = MakeClaimUpdates(count);
  for (ObjectChange& change : changes) {
    const size_t number = std::stoul(change.after->name.substr(std::string("claim-").size()));
    const auto before = MakeObject(event, number);
    const auto after = MakeObject(event, number);
    after->allocated = true;
    change.before = event.action == Action::kAdd ? nullptr : before;
    change.after = event.action == Action::kDelete ? nullptr : after;
  }
  return changes;
}

}  // namespace

PluginStorm::PluginStorm(const Options& options)
    : options_(options),
      stage_(StageOptions{.engine = options.engine,
                          .narrows = options.narrows,
                          .further_plugins = options.plugins}) {
  SCHEDQ_CHECK(options.events <= options.pods, "a storm has at most one event an object");
  const PluginRegistry& plugins = stage_.assembled->plugins();
  event_ = EventOf(plugins.plugin(*plugins.Find(options.plugin)));
  changes_ = MakeChanges(event_, options.pods);
  changes_.resize(static_cast<size_t>(options.events));
  RejectAll(stage_, MakeZonedPods(options.pods), stage_.PluginNamed(options.plugin));
}

void PluginStorm::Run() {
  SchedulingQueue& queue = stage_.queue();
  for (const ObjectChange& change : changes_) queue.Event(event_, change);
}

PathOutcome PluginStorm::Outcome() {
  PathOutcome outcome;
  outcome.operations = changes_.size();
  outcome.pods_judged = stage_.HintsAsked(options_.plugin, event_);
  const auto pods = static_cast<uint64_t>(options_.pods);
  if (outcome.pods_judged > pods * outcome.operations) {
    outcome.fault = "more pods were judged than wait";
  }
  return outcome;
}

}  // namespace schedq
