// Draws for tests of placing: nodes and pods with every kind of rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

inline constexpr uint64_t kDrawnNodes = 6;

// Draws parts of nodes and pods. There are few values, so that they meet.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t limit) { return random_.Below(limit); }
  bool OneIn(uint64_t count) { return Below(count) == 0; }

  Labels NodeLabels(const std::string& name) {
    Labels labels;
    if (!OneIn(8)) labels.emplace_back("kubernetes.io/hostname", name);
    if (!OneIn(4)) labels.emplace_back("zone", Letter(3));
    if (OneIn(2)) labels.emplace_back("disk", Letter(2));
    std::sort(labels.begin(), labels.end());
    return labels;
  }
  std::vector<Taint> Taints() {
    std::vector<Taint> taints;
    if (OneIn(3)) taints.push_back({"team", Letter(2), OneIn(2) ? "NoSchedule" : "NoExecute"});
    if (OneIn(4)) taints.push_back({"slow", "", "PreferNoSchedule"});
    return taints;
  }
  ResourceList Allocatable() {
    return {{"cpu", static_cast<int64_t>(Below(4)) * 100},
            {"memory", 1000},
            {"pods", 1 + static_cast<int64_t>(Below(6))}};
  }
  Labels PodLabels() {
    Labels labels;
    if (!OneIn(4)) labels.emplace_back("app", Letter(2));
    if (OneIn(2)) labels.emplace_back("tier", Letter(2));
    return labels;
  }
  std::vector<Toleration> Tolerations() {
    if (!OneIn(3)) return {};
    return {{"team", Letter(2), "", OneIn(3)}};
  }
  LabelSelector Selector() {
    if (OneIn(6))
      return {{"tier",
               OneIn(2) ? LabelRequirement::Operator::kExists
                        : LabelRequirement::Operator::kDoesNotExist,
               {}}};
    return {{"app",
             OneIn(5) ? LabelRequirement::Operator::kNotIn : LabelRequirement::Operator::kIn,
             {Letter(2)}}};
  }
  std::string TopologyKey() { return OneIn(2) ? "zone" : "kubernetes.io/hostname"; }
  std::string Namespace() { return OneIn(3) ? "other" : "ns"; }

  PodTerm Term() {
    PodTerm term{Selector(), {}, {}, TopologyKey()};
    if (OneIn(4)) term.namespaces = {Namespace()};
    if (OneIn(6)) {
      term.namespace_selector = LabelSelector{
          {"kubernetes.io/metadata.name", LabelRequirement::Operator::kIn, {Namespace()}}};
    }
    return term;
  }
  SpreadRule Spread() {
    SpreadRule rule;
    rule.is_required = !OneIn(4);
    rule.max_skew = 1 + static_cast<int32_t>(Below(2));
    rule.min_domains = 1 + static_cast<int32_t>(Below(3));
    rule.topology_key = TopologyKey();
    rule.selector = OneIn(8) ? LabelSelector() : Selector();
    if (OneIn(4)) rule.match_label_keys = {"tier"};
    rule.honors_affinity = !OneIn(3);
    rule.honors_taints = OneIn(3);
    return rule;
  }
  PodRulesRef Rules() {
    auto rules = std::make_shared<PodRules>();
    if (OneIn(6))
      rules->node_terms = {{{{"disk", LabelRequirement::Operator::kIn, {Letter(2)}}, false}}};
    if (OneIn(20))
      rules->node_terms = {
          {{{"metadata.name", LabelRequirement::Operator::kIn, {NodeName()}}, true}}};
    if (OneIn(4)) rules->affinity.push_back(Term());
    if (OneIn(12)) rules->affinity.push_back(Term());
    if (OneIn(4)) rules->anti_affinity.push_back(Term());
    if (OneIn(12)) rules->anti_affinity.push_back(Term());
    if (OneIn(4)) rules->preferred_affinity.push_back({Weight(), Term()});
    if (OneIn(4)) rules->preferred_anti_affinity.push_back({Weight(), Term()});
    if (OneIn(3)) rules->spread.push_back(Spread());
    if (OneIn(12)) rules->spread.push_back(Spread());
    if (OneIn(4)) rules->host_ports = {{OneIn(2) ? "0.0.0.0" : "10.0.0.1", "TCP", 80}};
    if (*rules == PodRules()) return nullptr;
    return rules;
  }
  std::string NodeName() { return "n" + std::to_string(1 + Below(kDrawnNodes)); }

 private:
  std::string Letter(uint64_t count) { return {static_cast<char>('a' + Below(count))}; }
  int32_t Weight() { return 1 + static_cast<int32_t>(Below(5)); }

  Random random_;
};

}  // namespace schedq
