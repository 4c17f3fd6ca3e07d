#include "bench/sim/placing/relations/pod_class.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "bench/sim/placing/relations/class_plan.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

void AppendKey(int64_t number, std::string* key) { *key += std::to_string(number) + ','; }

void AppendKey(const Labels& labels, std::string* key) {
  AppendKey(static_cast<int64_t>(labels.size()), key);
  for (const auto& [name, value] : labels) {
    schedq::AppendKey(name, key);
    schedq::AppendKey(value, key);
  }
}

void AppendKey(const std::vector<std::string>& texts, std::string* key) {
  AppendKey(static_cast<int64_t>(texts.size()), key);
  for (const std::string& text : texts) schedq::AppendKey(text, key);
}

void AppendKey(const LabelRequirement& requirement, std::string* key) {
  schedq::AppendKey(requirement.key, key);
  AppendKey(static_cast<int64_t>(requirement.op), key);
  AppendKey(requirement.values, key);
}

void AppendKey(const std::optional<LabelSelector>& selector, std::string* key) {
  *key += selector ? 'y' : 'n';
  if (selector) schedq::AppendKey(*selector, key);
}

void AppendKey(const SpreadRule& rule, std::string* key) {
  for (const int64_t number :
       {int64_t{rule.is_required}, int64_t{rule.max_skew}, int64_t{rule.min_domains},
        int64_t{rule.honors_affinity}, int64_t{rule.honors_taints}}) {
    AppendKey(number, key);
  }
  schedq::AppendKey(rule.topology_key, key);
  AppendKey(rule.selector, key);
  AppendKey(rule.match_label_keys, key);
}

void AppendKey(const HostPort& port, std::string* key) {
  schedq::AppendKey(port.ip, key);
  schedq::AppendKey(port.protocol, key);
  AppendKey(port.port, key);
}

void AppendKey(const NodeTerm& term, std::string* key) {
  AppendKey(static_cast<int64_t>(term.size()), key);
  for (const NodeRequirement& each : term) {
    AppendKey(static_cast<int64_t>(each.is_field), key);
    AppendKey(static_cast<const LabelRequirement&>(each), key);
  }
}

template <typename Item>
void AppendAll(const std::vector<Item>& items, std::string* key) {
  AppendKey(static_cast<int64_t>(items.size()), key);
  for (const Item& item : items) AppendKey(item, key);
}

bool HasSpread(const Pod& pod) { return !RulesOf(pod).spread.empty(); }

bool HasEqualRules(const Pod& a, const Pod& b) {
  return a.rules == b.rules || (a.rules != nullptr && b.rules != nullptr && *a.rules == *b.rules);
}

}  // namespace

std::string NodesKeyOf(const Pod& pod) {
  std::string key;
  AppendKey(pod.node_selector, &key);
  AppendAll(RulesOf(pod).node_terms, &key);
  AppendKey(static_cast<int64_t>(pod.tolerations.size()), &key);
  for (const Toleration& each : pod.tolerations) {
    AppendKey(std::string_view(each.key), &key);
    AppendKey(std::string_view(each.value), &key);
    AppendKey(std::string_view(each.effect), &key);
    AppendKey(static_cast<int64_t>(each.exists), &key);
  }
  return key;
}

static_assert(sizeof(ClassPlan) > 0, "a class ends with its plan");
PodClass::PodClass() = default;
PodClass::~PodClass() = default;

void AppendKey(std::string_view text, std::string* key) {
  *key += std::to_string(text.size());
  *key += ':';
  *key += text;
}

void AppendKey(const LabelSelector& selector, std::string* key) { AppendAll(selector, key); }

void AppendKey(const PodTerm& term, const std::string& holder_namespace, std::string* key) {
  AppendKey(term.selector, key);
  AppendKey(term.namespaces, key);
  AppendKey(term.namespace_selector, key);
  const bool is_of_holder = term.namespaces.empty() && !term.namespace_selector;
  AppendKey(is_of_holder ? std::string_view(holder_namespace) : std::string_view(), key);
  AppendKey(term.topology_key, key);
}

std::vector<HeldTerm> HeldTerms(const Pod& pod) {
  std::vector<HeldTerm> held;
  const PodRules& rules = RulesOf(pod);
  const auto add = [&](const PodTerm& term, int64_t weight, bool is_required = false) {
    std::string key = is_required ? "required" : "held";
    AppendKey(weight, &key);
    AppendKey(term, pod.namespace_name, &key);
    held.push_back({&term, weight, is_required, std::move(key)});
  };
  for (const PodTerm& term : rules.anti_affinity) add(term, 0);
  for (const PodTerm& term : rules.affinity) add(term, 1, true);
  for (const auto& each : rules.preferred_affinity) add(each.term, each.weight);
  for (const auto& each : rules.preferred_anti_affinity) add(each.term, -each.weight);
  return held;
}

bool HasRulesAboutPods(const Pod& pod) {
  if (pod.rules == nullptr) return false;
  const PodRules& rules = *pod.rules;
  return !rules.spread.empty() || !rules.host_ports.empty() || !rules.affinity.empty() ||
         !rules.anti_affinity.empty() || !rules.preferred_affinity.empty() ||
         !rules.preferred_anti_affinity.empty();
}

PodClassRef MakePodClass(const ClusterPod& pod) {
  auto made = std::make_shared<PodClass>();
  made->pod.namespace_name = pod.namespace_name;
  made->pod.labels = pod.labels;
  made->pod.rules = pod.rules;
  if (HasSpread(pod)) {
    made->pod.node_selector = pod.node_selector;
    made->pod.tolerations = pod.tolerations;
  }
  made->is_terminating = pod.deleting;
  made->key = ClassKeyOf(pod);
  for (const HeldTerm& each : HeldTerms(made->pod)) made->held.push_back(each.key);
  std::sort(made->held.begin(), made->held.end());
  return made;
}

bool IsOfClass(const ClusterPod& pod, const PodClass& pods) {
  if (pod.deleting != pods.is_terminating || pod.namespace_name != pods.pod.namespace_name ||
      pod.labels != pods.pod.labels || !HasEqualRules(pod, pods.pod)) {
    return false;
  }
  return !HasSpread(pod) ||
         (pod.node_selector == pods.pod.node_selector && pod.tolerations == pods.pod.tolerations);
}

std::string ClassKeyOf(const ClusterPod& pod) {
  std::string key;
  AppendKey(pod.namespace_name, &key);
  AppendKey(static_cast<int64_t>(pod.deleting), &key);
  AppendKey(pod.labels, &key);
  if (pod.rules == nullptr) return key;
  const PodRules& rules = *pod.rules;
  AppendAll(rules.spread, &key);
  AppendAll(rules.host_ports, &key);
  for (const HeldTerm& each : HeldTerms(pod)) AppendKey(each.key, &key);
  if (!rules.spread.empty()) key += NodesKeyOf(pod);
  return key;
}

}  // namespace schedq
