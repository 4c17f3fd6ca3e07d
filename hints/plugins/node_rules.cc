#include "hints/plugins/node_rules.h"

#include <algorithm>
#include <string>

#include "engine/label_selector.h"

namespace schedq {
namespace {

constexpr char kAnyAddress[] = "0.0.0.0";

const std::string* FindValue(const NodeRequirement& requirement, const ObjectView& node) {
  if (requirement.is_field) return requirement.key == "metadata.name" ? &node.name : nullptr;
  return FindLabel(node.labels, requirement.key);
}

bool Matches(const NodeAffinityTerm& term, const Labels& labels) {
  const std::string* value = FindLabel(labels, term.key);
  return value != nullptr &&
         std::find(term.values.begin(), term.values.end(), *value) != term.values.end();
}

}  // namespace

const PodRules& RulesOf(const Pod& pod) {
  static const PodRules kNone;
  return pod.rules != nullptr ? *pod.rules : kNone;
}

bool MeetsTerm(const NodeTerm& term, const ObjectView& node) {
  return !term.empty() && std::all_of(term.begin(), term.end(), [&](const NodeRequirement& each) {
    return Meets(each, FindValue(each, node));
  });
}

bool HasNodeAffinity(const Pod& pod) {
  return !pod.node_selector.empty() || !pod.node_affinity.empty() ||
         !RulesOf(pod).node_terms.empty();
}

bool MatchesAffinity(const Pod& pod, const ObjectView& node) {
  const auto has = [&](const auto& wanted) {
    const std::string* value = FindLabel(node.labels, wanted.first);
    return value != nullptr && *value == wanted.second;
  };
  if (!std::all_of(pod.node_selector.begin(), pod.node_selector.end(), has)) return false;
  if (!std::all_of(pod.node_affinity.begin(), pod.node_affinity.end(),
                   [&](const NodeAffinityTerm& term) { return Matches(term, node.labels); })) {
    return false;
  }
  const auto& terms = RulesOf(pod).node_terms;
  return terms.empty() || std::any_of(terms.begin(), terms.end(),
                                      [&](const NodeTerm& term) { return MeetsTerm(term, node); });
}

int64_t PreferenceFor(const Pod& pod, const ObjectView& node) {
  int64_t sum = 0;
  for (const PreferredNodeTerm& preferred : RulesOf(pod).preferred_node_terms) {
    if (MeetsTerm(preferred.term, node)) sum += preferred.weight;
  }
  return sum;
}

bool DeclareTheSame(const ObjectView& a, const ObjectView& b) {
  if (a.declared_features == b.declared_features) return true;
  static const FeatureNames kNone;
  const auto of = [](const ObjectView& node) -> const FeatureNames& {
    return node.declared_features != nullptr ? *node.declared_features : kNone;
  };
  return of(a) == of(b);
}

bool Conflicts(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip == kAnyAddress || b.ip == kAnyAddress);
}

bool AnyConflicts(const std::vector<HostPort>& a, const std::vector<HostPort>& b) {
  return std::any_of(a.begin(), a.end(), [&](const HostPort& one) {
    return std::any_of(b.begin(), b.end(),
                       [&](const HostPort& other) { return Conflicts(one, other); });
  });
}

}  // namespace schedq
