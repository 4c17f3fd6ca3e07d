// PodTopologySpread: pods of a kind lie evenly over zones, nodes or whatever a label of nodes says.
//
// Worth another attempt: a pod of the kind comes, goes or changes its labels; the pod's own labels
// or tolerations change; a node comes, goes or changes in what decides where it counts.
// Left out: a pod that begins to terminate does not count any more, and upstream, too, hears of it
// only when it is gone.
#include <algorithm>
#include <optional>
#include <string>

#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/node_rules.h"
#include "hints/plugins/pod_terms.h"

namespace schedq {
namespace {

// The rules that can reject.
template <typename Holds>
bool AnyRequired(const Pod& pod, Holds holds) {
  const auto& rules = RulesOf(pod).spread;
  return std::any_of(rules.begin(), rules.end(),
                     [&](const SpreadRule& rule) { return rule.is_required && holds(rule); });
}

bool Counts(const SpreadRule& rule, const Pod& pod, const Labels& labels) {
  const std::optional<LabelSelector> selector = SelectorOf(rule, pod.labels);
  return selector && MatchesLabels(*selector, labels);
}

Hint AfterAssignedPodChange(const Pod& pod, const ObjectChange& change) {
  const Pod* const before = change.before != nullptr ? change.before->pod.get() : nullptr;
  const Pod* const after = change.after != nullptr ? change.after->pod.get() : nullptr;
  const Pod* const latest = after != nullptr ? after : before;
  if (latest == nullptr) return Hint::kError;
  if (latest->namespace_name != pod.namespace_name) return Hint::kSkip;
  const bool matters = AnyRequired(pod, [&](const SpreadRule& rule) {
    const bool counted = before != nullptr && Counts(rule, pod, before->labels);
    const bool counts = after != nullptr && Counts(rule, pod, after->labels);
    return counted != counts;
  });
  return matters ? Hint::kQueue : Hint::kSkip;
}

// Whether the rule selects other pods than before, or the pod itself as it did not before.
bool SelectsOthers(const SpreadRule& rule, const Pod& before, const Pod& after) {
  return SelectorOf(rule, before.labels) != SelectorOf(rule, after.labels) ||
         Counts(rule, before, before.labels) != Counts(rule, after, after.labels);
}

Hint AfterOwnChange(const Pod& pod, const ObjectChange& change) {
  if (change.before == nullptr || change.before->pod == nullptr || change.after == nullptr ||
      change.after->pod == nullptr) {
    return Hint::kError;
  }
  const Pod& before = *change.before->pod;
  const Pod& after = *change.after->pod;
  const bool tolerates_others = before.tolerations != after.tolerations;
  const bool matters = AnyRequired(pod, [&](const SpreadRule& rule) {
    return (tolerates_others && rule.honors_taints) || SelectsOthers(rule, before, after);
  });
  return matters ? Hint::kQueue : Hint::kSkip;
}

bool MovedBetweenDomains(const Pod& pod, const Labels& before, const Labels& after) {
  return AnyRequired(pod, [&](const SpreadRule& rule) {
    return LabelValue(before, rule.topology_key) != LabelValue(after, rule.topology_key);
  });
}

Hint AfterNodeChange(const Pod& pod, const ObjectChange& change) {
  const ObjectView* const before = change.before.get();
  const ObjectView* const after = change.after.get();
  if (before == nullptr && after == nullptr) return Hint::kError;
  const auto& rules = RulesOf(pod).spread;
  const bool had_keys = before != nullptr && HasAllKeys(rules, true, before->labels);
  const bool has_keys = after != nullptr && HasAllKeys(rules, true, after->labels);
  if (had_keys != has_keys) return Hint::kQueue;
  if (!has_keys) return Hint::kSkip;
  const bool matters = MovedBetweenDomains(pod, before->labels, after->labels) ||
                       before->taints != after->taints ||
                       AnyRequired(pod, [&](const SpreadRule& rule) {
                         return CountsFor(rule, pod, *before) != CountsFor(rule, pod, *after);
                       });
  return matters ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin PodTopologySpreadPlugin() {
  Plugin plugin;
  plugin.name = "PodTopologySpread";
  plugin.rejection_message = "no node is left on which the pod would lie as evenly as it asks for";
  plugin.events = {
      {Resource::kAssignedPod,
       Action::kAdd | Action::kUpdatePodLabel | Action::kDelete,
       AfterAssignedPodChange,
       {}},
      {Resource::kTargetPod,
       Action::kUpdatePodToleration | Action::kUpdatePodLabel,
       AfterOwnChange,
       {}},
      {Resource::kNode,
       Action::kAdd | Action::kDelete | Action::kUpdateNodeLabel | Action::kUpdateNodeTaint,
       AfterNodeChange,
       {}},
  };
  return plugin;
}

}  // namespace schedq
