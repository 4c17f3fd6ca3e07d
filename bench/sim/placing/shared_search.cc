#include "bench/sim/placing/shared_search.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "bench/sim/placing/relations/pod_class.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

void AppendNumber(int64_t number, std::string* text) {
  *text += std::to_string(number);
  *text += ';';
}

template <typename Pairs>
void AppendPairs(const Pairs& pairs, std::string* text) {
  AppendNumber(static_cast<int64_t>(pairs.size()), text);
  for (const auto& [key, value] : pairs) {
    AppendKey(key, text);
    AppendKey(value, text);
  }
}

void AppendAmounts(const ClusterPod& pod, std::string* text) {
  AppendNumber(static_cast<int64_t>(pod.requests.size()), text);
  for (const auto& [name, amount] : pod.requests) {
    AppendKey(name, text);
    AppendNumber(amount, text);
  }
  AppendNumber(pod.spec().assumed_cpu, text);
  AppendNumber(pod.spec().assumed_memory, text);
}

void AppendTolerations(const Pod& pod, std::string* text) {
  AppendNumber(static_cast<int64_t>(pod.tolerations.size()), text);
  for (const Toleration& each : pod.tolerations) {
    AppendKey(each.key, text);
    AppendKey(each.value, text);
    AppendKey(each.effect, text);
    AppendNumber(each.exists ? 1 : 0, text);
  }
}

void AppendNames(const std::vector<std::string>& names, std::string* text) {
  AppendNumber(static_cast<int64_t>(names.size()), text);
  for (const std::string& name : names) AppendKey(name, text);
}

void AppendTerm(const NodeTerm& term, std::string* text) {
  AppendNumber(static_cast<int64_t>(term.size()), text);
  for (const NodeRequirement& each : term) {
    AppendNumber(each.is_field ? 1 : 0, text);
    AppendNumber(static_cast<int64_t>(each.op), text);
    AppendKey(each.key, text);
    AppendNames(each.values, text);
  }
}

void AppendRules(const PodRules& rules, std::string* text) {
  AppendNumber(static_cast<int64_t>(rules.node_terms.size()), text);
  for (const NodeTerm& term : rules.node_terms) AppendTerm(term, text);
  for (const PreferredNodeTerm& each : rules.preferred_node_terms) {
    AppendNumber(each.weight, text);
    AppendTerm(each.term, text);
  }
  AppendNumber(static_cast<int64_t>(rules.host_ports.size()), text);
  for (const HostPort& port : rules.host_ports) {
    AppendKey(port.ip, text);
    AppendKey(port.protocol, text);
    AppendNumber(port.port, text);
  }
  AppendNames(rules.node_features, text);
}

// A plugin that neither filters nor scores says nothing.
bool IsAsked(const SchedulerProfile& profile, const char* plugin) {
  const PluginChoice& choice = profile.ChoiceOf(plugin);
  return !choice.IsOff(PluginRole::kFilter) || !choice.IsOff(PluginRole::kScore);
}

bool HasSignature(const ClusterPod& pod, const SchedulerProfile& profile) {
  const PodRules& rules = RulesOf(pod);
  if (!pod.spec().claims.empty() || !pod.device_requests.empty()) return false;
  if (pod.volumes != nullptr) return false;  // Mostly each pod has its own.
  if (IsAsked(profile, "PodTopologySpread") &&
      (profile.has_default_spread || !rules.spread.empty())) {
    return false;
  }
  return !IsAsked(profile, "InterPodAffinity") ||
         (rules.affinity.empty() && rules.anti_affinity.empty() &&
          rules.preferred_affinity.empty() && rules.preferred_anti_affinity.empty());
}

}  // namespace

std::optional<std::string> SignatureOf(const ClusterPod& pod, const SchedulerProfile& profile) {
  if (!profile.shares_searches || !HasSignature(pod, profile)) return std::nullopt;
  std::string text;
  AppendKey(pod.node_name, &text);
  AppendAmounts(pod, &text);
  AppendTolerations(pod, &text);
  AppendPairs(pod.node_selector, &text);
  for (const NodeAffinityTerm& term : pod.node_affinity) {
    AppendKey(term.key, &text);
    AppendNames(term.values, &text);
  }
  AppendRules(RulesOf(pod), &text);
  AppendNames(pod.spec().images, &text);
  // Other pods may have preferences about the pod's labels.
  if (IsAsked(profile, "InterPodAffinity") && !profile.ignores_preferences_of_others) {
    AppendPairs(pod.labels, &text);
  }
  return text;
}

}  // namespace schedq
