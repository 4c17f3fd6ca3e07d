#include "hints/plugins/pod_terms.h"

#include <algorithm>
#include <string>

#include "hints/plugins/node_rules.h"
#include "hints/plugins/tolerations.h"

namespace schedq {

bool Selects(const PodTerm& term, std::string_view holder_namespace,
             std::string_view namespace_name, const Labels& labels,
             const Labels* namespace_labels) {
  if (!term.selector || !MatchesLabels(*term.selector, labels)) return false;
  if (term.namespaces.empty() && !term.namespace_selector) {
    return namespace_name == holder_namespace;
  }
  const auto& named = term.namespaces;
  if (std::find(named.begin(), named.end(), namespace_name) != named.end()) return true;
  return term.namespace_selector && (namespace_labels == nullptr ||
                                     MatchesLabels(*term.namespace_selector, *namespace_labels));
}

bool MaySelect(const PodTerm& term, const Pod& holder, const Pod& pod) {
  return Selects(term, holder.namespace_name, pod.namespace_name, pod.labels, nullptr);
}

bool MaySelectByAll(const std::vector<PodTerm>& terms, const Pod& holder, const Pod& pod) {
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const PodTerm& term) {
    return MaySelect(term, holder, pod);
  });
}

std::optional<LabelSelector> SelectorOf(const SpreadRule& rule, const Labels& labels) {
  if (!rule.selector) return std::nullopt;
  LabelSelector selector = *rule.selector;
  for (const std::string& key : rule.match_label_keys) {
    const std::string* const value = FindLabel(labels, key);
    if (value == nullptr) continue;
    selector.push_back({key, LabelRequirement::Operator::kIn, {*value}});
  }
  return selector;
}

bool HasAllKeys(const std::vector<SpreadRule>& rules, bool of_required, const Labels& node_labels) {
  return std::all_of(rules.begin(), rules.end(), [&](const SpreadRule& rule) {
    return rule.is_required != of_required || FindLabel(node_labels, rule.topology_key) != nullptr;
  });
}

bool CountsFor(const SpreadRule& rule, const Pod& pod, const ObjectView& node) {
  if (rule.honors_affinity && !MatchesAffinity(pod, node)) return false;
  return !rule.honors_taints || ToleratesNode(pod, node);
}

}  // namespace schedq
