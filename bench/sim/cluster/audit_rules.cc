#include "bench/sim/cluster/audit_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"
#include "hints/plugins/pod_terms.h"

namespace schedq {
namespace {

// A pod that is judged, on its node.
struct Placed {
  const ClusterPod* pod;
  const ClusterNode* node;
};

class RulesAudit {
 public:
  RulesAudit(const Cluster& cluster, std::vector<std::string>* faults)
      : cluster_(cluster), faults_(*faults) {
    std::unordered_map<std::string, const ClusterNode*> nodes;
    for (const auto& [number, node] : cluster.nodes()) nodes[node->name] = node.get();
    size_t bound = 0;
    for (const auto& [number, pod] : cluster.pods()) {
      if (pod->node_name.empty()) continue;
      ++bound;
      const auto node = nodes.find(pod->node_name);
      if (node == nodes.end() || node->second->relabelled || pod->relabelled) continue;
      if (!pod->spec().pod.node_name.empty()) continue;
      placed_.push_back({pod.get(), node->second});
    }
    sees_all_ = bound == placed_.size() && !cluster.WasRestless();
  }

  void Run() {
    AuditPorts();
    for (const Placed& each : placed_) {
      if (!MatchesAffinity(*each.pod, *each.node)) Blame(each, "its node affinity forbids");
      for (const PodTerm& term : RulesOf(*each.pod).anti_affinity) AuditAntiAffinity(each, term);
      if (!sees_all_) continue;
      for (const PodTerm& term : RulesOf(*each.pod).affinity) AuditAffinity(each, term);
      for (const SpreadRule& rule : RulesOf(*each.pod).spread) AuditSpread(each, rule);
    }
  }

 private:
  // Pods by the value of a label of their nodes.
  struct Group {
    std::map<std::string, int64_t> by_domain;
    bool all_have_rule = true;
    std::optional<int64_t> least;  // Of a spread, once it was asked.
  };

  void Blame(const Placed& placed, const std::string& why) {
    faults_.push_back(fmt::format("pod {}/{} is on {}, which {}", placed.pod->namespace_name,
                                  placed.pod->name, placed.node->name, why));
  }

  void AuditPorts() {
    std::unordered_map<const ClusterNode*, std::vector<const Placed*>> with_ports;
    for (const Placed& each : placed_) {
      const auto& ports = RulesOf(*each.pod).host_ports;
      if (ports.empty()) continue;
      auto& others = with_ports[each.node];
      for (const Placed* other : others) {
        if (!AnyConflicts(ports, RulesOf(*other->pod).host_ports)) continue;
        Blame(each, "gives its port to " + QualifiedName(*other->pod) + " too");
      }
      others.push_back(&each);
    }
  }

  bool Matches(const PodTerm& term, const Pod& holder, const Pod& pod) {
    const auto [place, is_new] = namespaces_.try_emplace(pod.namespace_name);
    if (is_new) place->second = cluster_.NamespaceLabels(pod.namespace_name);
    return Selects(term, holder.namespace_name, pod.namespace_name, pod.labels, &place->second);
  }

  // The pods of which `counts` is true, by domain, worked out once for equal keys.
  template <typename Key, typename Counts>
  Group& GroupOf(std::vector<std::pair<Key, Group>>* known, const Key& key,
                 const std::string& topology_key, Counts counts) {
    for (auto& [present, group] : *known) {
      if (present == key) return group;
    }
    Group group;
    for (const Placed& each : placed_) {
      const std::string* const domain = FindLabel(each.node->labels, topology_key);
      if (domain != nullptr && counts(*each.pod, &group)) ++group.by_domain[*domain];
    }
    return known->emplace_back(key, std::move(group)).second;
  }
  static int64_t CountIn(const Group& group, const std::string* domain) {
    const auto found = domain == nullptr ? group.by_domain.end() : group.by_domain.find(*domain);
    return found == group.by_domain.end() ? 0 : found->second;
  }

  using TermKey = std::pair<PodTerm, std::string>;  // With the holder's namespace.

  void AuditAntiAffinity(const Placed& placed, const PodTerm& term) {
    const ClusterPod& pod = *placed.pod;
    const Group& group =
        GroupOf(&kept_away_, TermKey(term, pod.namespace_name), term.topology_key,
                [&](const ClusterPod& other, Group*) { return Matches(term, pod, other); });
    const int64_t itself = Matches(term, pod, pod) ? 1 : 0;
    const std::string* const domain = FindLabel(placed.node->labels, term.topology_key);
    if (CountIn(group, domain) > (domain != nullptr ? itself : 0)) {
      Blame(placed, "is near pods that its anti-affinity keeps away");
    }
  }

  void AuditAffinity(const Placed& placed, const PodTerm& term) {
    const ClusterPod& pod = *placed.pod;
    const std::string* const domain = FindLabel(placed.node->labels, term.topology_key);
    if (domain == nullptr) return Blame(placed, "lacks the label of its affinity");
    const Group& group =
        GroupOf(&wanted_, TermKey(term, pod.namespace_name), term.topology_key,
                [&](const ClusterPod& other, Group*) { return Matches(term, pod, other); });
    if (CountIn(group, domain) == 0) Blame(placed, "is near no pod that its affinity wants");
  }

  using RuleKey = std::pair<SpreadRule, std::pair<std::string, std::optional<LabelSelector>>>;

  void AuditSpread(const Placed& placed, const SpreadRule& rule) {
    const ClusterPod& pod = *placed.pod;
    if (!rule.is_required) return;
    const std::string* const domain = FindLabel(placed.node->labels, rule.topology_key);
    if (domain == nullptr) return Blame(placed, "lacks the label of its topology spread");
    const auto selector = SelectorOf(rule, pod.labels);
    const auto counts = [&](const ClusterPod& other, Group* group) {
      if (!selector || selector->empty() || other.namespace_name != pod.namespace_name ||
          !MatchesLabels(*selector, other.labels)) {
        return false;
      }
      const auto& rules = RulesOf(other).spread;
      group->all_have_rule = group->all_have_rule && !HasNodeAffinity(other) &&
                             std::find(rules.begin(), rules.end(), rule) != rules.end();
      return true;
    };
    Group& group =
        GroupOf(&spread_, RuleKey(rule, {pod.namespace_name, selector}), rule.topology_key, counts);
    if (!group.all_have_rule || rule.honors_taints || HasNodeAffinity(pod)) return;
    if (!group.least) group.least = Least(rule, RulesOf(pod).spread, group);
    if (CountIn(group, domain) - *group.least > rule.max_skew) {
      Blame(placed, "holds too many of its kind for its topology spread");
    }
  }

  // Over the domains of all nodes that count, for pods without node affinity.
  int64_t Least(const SpreadRule& rule, const std::vector<SpreadRule>& rules, const Group& group) {
    std::map<std::string, int64_t> counts;
    for (const auto& [number, node] : cluster_.nodes()) {
      if (!HasAllKeys(rules, true, node->labels)) continue;
      const std::string& domain = *FindLabel(node->labels, rule.topology_key);
      counts[domain] = CountIn(group, &domain);
    }
    if (counts.size() < static_cast<size_t>(rule.min_domains)) return 0;
    int64_t least = INT64_MAX;
    for (const auto& [domain, count] : counts) least = std::min(least, count);
    return counts.empty() ? 0 : least;
  }

  const Cluster& cluster_;
  std::vector<std::string>& faults_;
  std::vector<Placed> placed_;
  bool sees_all_ = false;  // What pods were placed by is still there, and is judged.
  std::map<std::string, Labels> namespaces_;
  std::vector<std::pair<TermKey, Group>> kept_away_;
  std::vector<std::pair<TermKey, Group>> wanted_;
  std::vector<std::pair<RuleKey, Group>> spread_;
};

}  // namespace

void AuditRules(const Cluster& cluster, std::vector<std::string>* faults) {
  RulesAudit(cluster, faults).Run();
}

}  // namespace schedq
