#include "bench/sim/placing/framework.h"

#include <algorithm>
#include <utility>

#include "engine/base/result.h"
#include "engine/pod.h"

namespace schedq {
namespace {

constexpr size_t kPluginsMax = 64;

}  // namespace

Framework::Framework(std::vector<PlacingPluginRef> plugins) : plugins_(std::move(plugins)) {
  SCHEDQ_CHECK(plugins_.size() <= kPluginsMax,
               "the rejectors of a decision are the bits of a word");
  for (size_t number = 0; number < plugins_.size(); ++number) {
    const ExtensionPoints points = plugins_[number]->points();
    for (size_t point = 0; point < kExtensionPointCount; ++point) {
      if (!points.Has(static_cast<ExtensionPoint>(point))) continue;
      by_point_[point].push_back({plugins_[number].get(), number});
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

bool Framework::PreBind(size_t step, Cluster* cluster, const ClusterPod& pod,
                        const Decision& decision) const {
  for (const Numbered& each : At(ExtensionPoint::kPreBind)) {
    const size_t steps = each.plugin->PreBindPreFlight(decision);
    if (step < steps) return each.plugin->PreBind(step, cluster, pod, decision);
    step -= steps;
  }
  return true;
}

}  // namespace schedq
