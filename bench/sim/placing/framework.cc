#include "bench/sim/placing/framework.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/result.h"
#include "engine/pod.h"

namespace schedq {
namespace {

constexpr size_t kPluginsMax = 64;

// nullopt: nothing can be turned off there.
std::optional<PluginRole> RoleAt(ExtensionPoint point) {
  switch (point) {
    case ExtensionPoint::kFilter:
      return PluginRole::kFilter;
    case ExtensionPoint::kPostFilter:
      return PluginRole::kPostFilter;
    case ExtensionPoint::kScore:
      return PluginRole::kScore;
    case ExtensionPoint::kReserve:
      return PluginRole::kReserve;
    case ExtensionPoint::kPermit:
      return PluginRole::kPermit;
    case ExtensionPoint::kPreBind:
      return PluginRole::kPreBind;
    default:
      return std::nullopt;
  }
}

}  // namespace

Framework::Framework(std::vector<PlacingPluginRef> plugins, SchedulerProfile profile)
    : plugins_(std::move(plugins)), profile_(std::move(profile)) {
  SCHEDQ_CHECK(plugins_.size() <= kPluginsMax,
               "the rejectors of a decision are the bits of a word");
  for (size_t number = 0; number < plugins_.size(); ++number) {
    const PlacingPlugin& plugin = *plugins_[number];
    const ExtensionPoints points = plugin.points();
    const PluginChoice& choice = profile_.ChoiceOf(std::string(plugin.name()));
    for (size_t i = 0; i < kExtensionPointCount; ++i) {
      const auto point = static_cast<ExtensionPoint>(i);
      const std::optional<PluginRole> role = RoleAt(point);
      if (!points.Has(point) || (role && choice.IsOff(*role))) continue;
      by_point_[i].push_back({&plugin, number, choice.weight.value_or(plugin.weight())});
    }
  }
}

std::optional<size_t> Framework::Find(std::string_view name) const {
  for (size_t number = 0; number < plugins_.size(); ++number) {
    if (plugins_[number]->name() == name) return number;
  }
  return std::nullopt;
}

bool Framework::Reserve(const ClusterPod& pod, const Decision& decision) const {
  const std::vector<Numbered>& asked = At(ExtensionPoint::kReserve);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].plugin->Reserve(pod, decision)) continue;
    while (i-- > 0) asked[i].plugin->Unreserve(pod, decision, 0);
    return false;
  }
  return true;
}

// The steps are those of the plugins in their order, so the last plugins have taken the fewest.
void Framework::Unreserve(const ClusterPod& pod, const Decision& decision, size_t steps) const {
  size_t begin = PreBindSteps(decision);
  for (size_t number = plugins_.size(); number-- > 0;) {
    const PlacingPlugin& plugin = *plugins_[number];
    const ExtensionPoints points = plugin.points();
    size_t own = 0;
    if (points.Has(ExtensionPoint::kPreBind)) own = plugin.PreBindPreFlight(decision);
    begin -= own;
    const size_t taken = steps > begin ? std::min(steps - begin, own) : 0;
    if (points.Has(ExtensionPoint::kReserve)) plugin.Unreserve(pod, decision, taken);
  }
}

PermitOutcome Framework::Permit(const PodRef& pod, const Decision& decision,
                                WaitingPods* waiting) const {
  PermitOutcome outcome;
  const std::vector<Numbered>& asked = At(ExtensionPoint::kPermit);
  if (asked.empty()) return outcome;
  waiting->Open(pod);
  for (const Numbered& each : asked) {
    const PermitAnswer answer =
        each.plugin->Permit(AsClusterPod(*pod), decision, each.number, waiting);
    if (answer.kind == PermitAnswer::Kind::kWait) {
      outcome.waits.push_back({each.number, answer.timeout});
    } else if (answer.kind == PermitAnswer::Kind::kReject) {
      outcome.rejector = each.number;
      break;
    }
  }
  const bool is_rejected = outcome.rejector != WaitingPods::kAllowed;
  if (is_rejected) outcome.waits.clear();
  if (outcome.waits.empty()) waiting->Drop(*pod);
  return outcome;
}

size_t Framework::PreBindSteps(const Decision& decision) const {
  size_t steps = 0;
  for (const Numbered& each : At(ExtensionPoint::kPreBind)) {
    steps += each.plugin->PreBindPreFlight(decision);
  }
  return steps;
}

Framework::PreBindStep Framework::StepOf(size_t step, const Decision& decision) const {
  for (const Numbered& each : At(ExtensionPoint::kPreBind)) {
    const size_t steps = each.plugin->PreBindPreFlight(decision);
    if (step < steps) return {each.plugin, step};
    step -= steps;
  }
  return {};
}

Duration Framework::PreBindDelay(size_t step, Duration waited, const Cluster& cluster,
                                 const ClusterPod& pod, const Decision& decision) const {
  const PreBindStep found = StepOf(step, decision);
  if (found.plugin == nullptr) return Duration(0);
  return found.plugin->PreBindDelay(found.number, waited, cluster, pod, decision);
}

bool Framework::PreBind(size_t step, Cluster* cluster, const ClusterPod& pod,
                        const Decision& decision) const {
  const PreBindStep found = StepOf(step, decision);
  return found.plugin == nullptr || found.plugin->PreBind(found.number, cluster, pod, decision);
}

}  // namespace schedq
