// InterPodAffinity: a pod goes near pods that it wants for neighbours, and away from those that it
// does not want or that do not want it.
//
// Worth another attempt: a pod comes, or comes to have labels, that the pod wants near; one that it
// does not want, or that does not want it, goes or changes; a node comes, or changes the labels
// that say which nodes are neighbours; the pod's own labels change.
// A pod may be rejected because of what pods on nodes want. The hint knows them only when they go,
// so a node that comes or changes is worth an attempt wherever they may have been the reason.
// Labels of namespaces are unknown here: a term that selects namespaces counts as if it selected
// all. Left out: nodes that go with pods on them, which upstream does not register for either.
#include <algorithm>
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

// Where nobody whom a pod wants near exists, one that wants its own like may be the first.
bool MayBeFirst(const Pod& pod) { return MaySelectByAll(RulesOf(pod).affinity, pod, pod); }

bool MayKeepAway(const Pod& holder, const Pod& pod) {
  const auto& terms = RulesOf(holder).anti_affinity;
  return std::any_of(terms.begin(), terms.end(),
                     [&](const PodTerm& term) { return MaySelect(term, holder, pod); });
}

Hint AfterLabelChange(const Pod& pod, const Pod& before, const Pod& after) {
  const PodRules& rules = RulesOf(pod);
  const bool was_wanted = MaySelectByAll(rules.affinity, pod, before);
  const bool is_wanted = MaySelectByAll(rules.affinity, pod, after);
  if (!was_wanted && is_wanted) return Hint::kQueue;
  if (was_wanted && !is_wanted && MayBeFirst(pod)) return Hint::kQueue;
  // Each term by itself: they may be about neighbours of different kinds.
  const bool frees =
      std::any_of(rules.anti_affinity.begin(), rules.anti_affinity.end(), [&](const PodTerm& term) {
        return MaySelect(term, pod, before) && !MaySelect(term, pod, after);
      });
  return frees ? Hint::kQueue : Hint::kSkip;
}

Hint AfterAssignedPodChange(const Pod& pod, const ObjectChange& change) {
  const Pod* const before = change.before != nullptr ? change.before->pod.get() : nullptr;
  const Pod* const after = change.after != nullptr ? change.after->pod.get() : nullptr;
  if (before != nullptr && after != nullptr) return AfterLabelChange(pod, *before, *after);
  const PodRules& rules = RulesOf(pod);
  if (after != nullptr) {
    return MaySelectByAll(rules.affinity, pod, *after) ? Hint::kQueue : Hint::kSkip;
  }
  if (before == nullptr) return Hint::kError;
  const bool frees = MayKeepAway(pod, *before) || MayKeepAway(*before, pod) ||
                     (MaySelectByAll(rules.affinity, pod, *before) && MayBeFirst(pod));
  return frees ? Hint::kQueue : Hint::kSkip;
}

Hint AfterNewNode(const PodRules& rules, const ObjectView& node) {
  if (rules.affinity.empty() || !rules.anti_affinity.empty()) return Hint::kQueue;
  const bool has_key = std::any_of(
      rules.affinity.begin(), rules.affinity.end(),
      [&](const PodTerm& term) { return FindLabel(node.labels, term.topology_key) != nullptr; });
  return has_key ? Hint::kQueue : Hint::kSkip;
}

// Whether the node has lost the label or has another value of it.
bool LeftDomain(const std::string* before, const std::string* after) {
  return before != nullptr && (after == nullptr || *before != *after);
}

Hint AfterNodeChange(const Pod& pod, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  const PodRules& rules = RulesOf(pod);
  if (change.before == nullptr) return AfterNewNode(rules, *change.after);
  const Labels& before = change.before->labels;
  const Labels& after = change.after->labels;
  for (const PodTerm& term : rules.affinity) {
    const std::string* const was = FindLabel(before, term.topology_key);
    const std::string* const is = FindLabel(after, term.topology_key);
    if ((was == nullptr) != (is == nullptr) || LeftDomain(was, is)) return Hint::kQueue;
  }
  // Any label may be the key of a term of the pod, or of a pod on a node.
  const bool left = std::any_of(before.begin(), before.end(), [&](const auto& label) {
    return LeftDomain(&label.second, FindLabel(after, label.first));
  });
  return left ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin InterPodAffinityPlugin() {
  Plugin plugin;
  plugin.name = "InterPodAffinity";
  plugin.rejection_message =
      "no node has the neighbours that pod affinity and anti-affinity ask for";
  plugin.events = {
      {Resource::kAssignedPod,
       Action::kAdd | Action::kUpdatePodLabel | Action::kDelete,
       AfterAssignedPodChange,
       {}},
      {Resource::kTargetPod, Action::kUpdatePodLabel, {}, {}},
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeLabel, AfterNodeChange, {}},
  };
  return plugin;
}

}  // namespace schedq
