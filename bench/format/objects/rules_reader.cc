#include "bench/format/objects/rules_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/objects/object_reader.h"

namespace schedq {
namespace {

using Operator = LabelRequirement::Operator;

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr int64_t kWeightMax = 100;
constexpr int64_t kPortMax = 65535;

// Reads one of the operators, of which an error names `expected`.
void ReadOperator(YamlFields& fields, bool compares, Operator* out) {
  static constexpr std::array<std::pair<std::string_view, Operator>, 6> kOperators = {{
      {"In", Operator::kIn},
      {"NotIn", Operator::kNotIn},
      {"Exists", Operator::kExists},
      {"DoesNotExist", Operator::kDoesNotExist},
      {"Gt", Operator::kGreater},
      {"Lt", Operator::kLess},
  }};
  constexpr size_t kWithoutComparisons = 4;
  std::string text;
  if (!fields.ReadRequired("operator", &text)) return;
  const auto end = kOperators.begin() + (compares ? kOperators.size() : kWithoutComparisons);
  const auto found =
      std::find_if(kOperators.begin(), end, [&](const auto& pair) { return pair.first == text; });
  if (found != end) {
    *out = found->second;
    return;
  }
  fields.errors().Add(fields.node().at,
                      "operator is \"" + text + "\", expected In, NotIn, Exists" +
                          (compares ? ", DoesNotExist, Gt or Lt" : " or DoesNotExist"));
}

// A number from `least` to `most` that the map may have.
void ReadBounded(YamlFields& fields, std::string_view key, int64_t least, int64_t most,
                 int32_t* out) {
  int64_t value = *out;
  if (!fields.Read(key, &value)) return;
  if (value < least || value > most) {
    fields.errors().Add(fields.node().at, std::string(key) + " is " + std::to_string(value) +
                                              ", expected " + std::to_string(least) + " to " +
                                              std::to_string(most));
  }
  *out = static_cast<int32_t>(value);
}

// One of two words.
bool ReadEither(YamlFields& fields, std::string_view key, std::string_view yes, std::string_view no,
                bool missing) {
  std::string text;
  if (!fields.Read(key, &text)) return missing;
  if (text != yes && text != no) {
    fields.errors().Add(fields.node().at, std::string(key) + " is \"" + text + "\", expected " +
                                              std::string(yes) + " or " + std::string(no));
  }
  return text == yes;
}

// The key stays in the term, in the way in which the reader notes it, until the pod's labels are
// known: as a requirement without values.
void ReadLabelKeys(YamlFields& fields, std::string_view key, Operator op, PodTerm* term) {
  std::vector<std::string> keys;
  fields.Read(key, &keys);
  if (!term->selector) return;
  for (std::string& each : keys) term->selector->push_back({std::move(each), op, {}});
}

PodTerm ReadPodTerm(YamlErrors& errors, const YamlNode& node) {
  PodTerm term;
  YamlFields fields(errors, node, "a pod affinity term");
  fields.ReadRequired("topologyKey", &term.topology_key);
  fields.Read("namespaces", &term.namespaces);
  std::sort(term.namespaces.begin(), term.namespaces.end());
  if (const auto* selector = fields.FindMap("labelSelector")) {
    term.selector = ReadLabelSelector(errors, *selector);
  }
  if (const auto* selector = fields.FindMap("namespaceSelector")) {
    term.namespace_selector = ReadLabelSelector(errors, *selector);
  }
  ReadLabelKeys(fields, "matchLabelKeys", Operator::kIn, &term);
  ReadLabelKeys(fields, "mismatchLabelKeys", Operator::kNotIn, &term);
  return term;
}

struct TermFeatures {
  Feature required;
  Feature preferred;
};

void ReadPodTerms(YamlErrors& errors, const YamlNode* node, const TermFeatures& noted,
                  std::vector<PodTerm>* required, std::vector<PreferredPodTerm>* preferred,
                  FeatureUses& features) {
  if (node == nullptr) return;
  YamlFields fields(errors, *node, "the pod affinity");
  if (const auto* list = fields.FindList(kRequired); list != nullptr && !list->items.empty()) {
    AddFeature(features, noted.required);
    for (const YamlNode& item : list->items) required->push_back(ReadPodTerm(errors, item));
  }
  const auto* list = fields.FindList(kPreferred);
  if (list == nullptr || list->items.empty()) return;
  AddFeature(features, noted.preferred);
  for (const YamlNode& item : list->items) {
    PreferredPodTerm term;
    YamlFields parts(errors, item, "a preferred pod affinity term");
    ReadBounded(parts, "weight", 1, kWeightMax, &term.weight);
    if (const auto* inner = parts.Require("podAffinityTerm")) {
      term.term = ReadPodTerm(errors, *inner);
    }
    preferred->push_back(std::move(term));
  }
}

void ReadRequirements(YamlErrors& errors, const YamlNode* list, bool is_field, NodeTerm* term) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    NodeRequirement requirement;
    requirement.is_field = is_field;
    YamlFields fields(errors, item, "a node requirement");
    fields.ReadRequired("key", &requirement.key);
    ReadOperator(fields, true, &requirement.op);
    fields.Read("values", &requirement.values);
    term->push_back(std::move(requirement));
  }
}

NodeTerm ReadNodeTerm(YamlErrors& errors, const YamlNode& node) {
  NodeTerm term;
  YamlFields parts(errors, node, "a node selector term");
  ReadRequirements(errors, parts.FindList("matchExpressions"), false, &term);
  ReadRequirements(errors, parts.FindList("matchFields"), true, &term);
  return term;
}

void ReadNodeAffinity(YamlErrors& errors, const YamlNode* node, PodRules* rules,
                      FeatureUses& features) {
  if (node == nullptr) return;
  YamlFields parts(errors, *node, "the node affinity");
  if (const auto* required = parts.Find(kRequired)) {
    rules->node_terms = ReadNodeSelector(errors, *required);
    AddFeature(features, Feature::kNodeAffinity);
  }
  const auto* preferred = parts.FindList(kPreferred);
  if (preferred == nullptr || preferred->items.empty()) return;
  AddFeature(features, Feature::kPreferredNodeAffinity);
  for (const YamlNode& item : preferred->items) {
    PreferredNodeTerm term;
    YamlFields fields(errors, item, "a preferred node affinity term");
    ReadBounded(fields, "weight", 1, kWeightMax, &term.weight);
    if (const auto* inner = fields.Require("preference")) term.term = ReadNodeTerm(errors, *inner);
    rules->preferred_node_terms.push_back(std::move(term));
  }
}

void MergeInto(const Labels& labels, PodTerm* term) {
  if (!term->selector) return;
  LabelSelector merged;
  for (LabelRequirement& each : *term->selector) {
    const bool is_key =
        (each.op == Operator::kIn || each.op == Operator::kNotIn) && each.values.empty();
    if (is_key) {
      const std::string* const value = FindLabel(labels, each.key);
      if (value == nullptr) continue;
      each.values = {*value};
    }
    merged.push_back(std::move(each));
  }
  term->selector = std::move(merged);
}

}  // namespace

std::vector<NodeTerm> ReadNodeSelector(YamlErrors& errors, const YamlNode& node) {
  std::vector<NodeTerm> terms;
  YamlFields fields(errors, node, "the node selector");
  if (const auto* list = fields.FindList("nodeSelectorTerms")) {
    for (const YamlNode& item : list->items) terms.push_back(ReadNodeTerm(errors, item));
  }
  return terms;
}

LabelSelector ReadLabelSelector(YamlErrors& errors, const YamlNode& node) {
  LabelSelector selector;
  YamlFields fields(errors, node, "the label selector");
  if (const auto* labels = fields.FindMap("matchLabels")) {
    for (auto& [key, value] : ReadLabels(errors, *labels, "matchLabels")) {
      selector.push_back({key, Operator::kIn, {value}});
    }
  }
  if (const auto* list = fields.FindList("matchExpressions")) {
    for (const YamlNode& item : list->items) {
      LabelRequirement requirement;
      YamlFields parts(errors, item, "a label requirement");
      parts.ReadRequired("key", &requirement.key);
      ReadOperator(parts, false, &requirement.op);
      parts.Read("values", &requirement.values);
      const bool lists = requirement.op == Operator::kIn || requirement.op == Operator::kNotIn;
      if (lists == requirement.values.empty() && errors.ok()) {
        errors.Add(item.at, lists ? "there are no values, expected at least one for In and NotIn"
                                  : "there are values, expected none for Exists and DoesNotExist");
      }
      selector.push_back(std::move(requirement));
    }
  }
  return selector;
}

void ReadAffinity(YamlErrors& errors, const YamlNode* node, PodRules* rules,
                  FeatureUses& features) {
  if (node == nullptr) return;
  YamlFields fields(errors, *node, "affinity");
  ReadNodeAffinity(errors, fields.Find("nodeAffinity"), rules, features);
  ReadPodTerms(errors, fields.Find("podAffinity"),
               {Feature::kPodAffinity, Feature::kPreferredPodAffinity}, &rules->affinity,
               &rules->preferred_affinity, features);
  ReadPodTerms(errors, fields.Find("podAntiAffinity"),
               {Feature::kPodAntiAffinity, Feature::kPreferredPodAntiAffinity},
               &rules->anti_affinity, &rules->preferred_anti_affinity, features);
}

void ReadSpread(YamlErrors& errors, const YamlNode* list, PodRules* rules, FeatureUses& features) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    SpreadRule rule;
    std::string when;
    YamlFields fields(errors, item, "a topology spread constraint");
    fields.ReadRequired("topologyKey", &rule.topology_key);
    rule.is_required =
        ReadEither(fields, "whenUnsatisfiable", "DoNotSchedule", "ScheduleAnyway", true);
    ReadBounded(fields, "maxSkew", 1, INT32_MAX, &rule.max_skew);
    ReadBounded(fields, "minDomains", 1, INT32_MAX, &rule.min_domains);
    if (const auto* selector = fields.FindMap("labelSelector")) {
      rule.selector = ReadLabelSelector(errors, *selector);
    }
    fields.Read("matchLabelKeys", &rule.match_label_keys);
    rule.honors_affinity = ReadEither(fields, "nodeAffinityPolicy", "Honor", "Ignore", true);
    rule.honors_taints = ReadEither(fields, "nodeTaintsPolicy", "Honor", "Ignore", false);
    AddFeature(features,
               rule.is_required ? Feature::kTopologySpread : Feature::kPreferredTopologySpread);
    rules->spread.push_back(std::move(rule));
  }
}

void ReadHostPorts(YamlErrors& errors, const YamlNode* list, bool uses_node_network,
                   PodRules* rules, FeatureUses& features) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    HostPort port{"0.0.0.0", "TCP", 0};
    int64_t container_port = 0;
    YamlFields fields(errors, item, "a port");
    fields.Read("containerPort", &container_port);
    if (uses_node_network) port.port = container_port;
    fields.Read("hostPort", &port.port);
    fields.Read("hostIP", &port.ip);
    fields.Read("protocol", &port.protocol);
    fields.Ignore({"name"});
    if (port.ip.empty()) port.ip = "0.0.0.0";
    if (port.port < 0 || port.port > kPortMax) {
      errors.Add(item.at, "hostPort is " + std::to_string(port.port) + ", expected 0 to 65535");
    }
    if (port.port == 0) continue;
    AddFeature(features, Feature::kHostPorts);
    rules->host_ports.push_back(std::move(port));
  }
}

void MergeLabelKeys(const Labels& labels, PodRules* rules) {
  for (PodTerm& term : rules->affinity) MergeInto(labels, &term);
  for (PodTerm& term : rules->anti_affinity) MergeInto(labels, &term);
  for (PreferredPodTerm& each : rules->preferred_affinity) MergeInto(labels, &each.term);
  for (PreferredPodTerm& each : rules->preferred_anti_affinity) MergeInto(labels, &each.term);
}

}  // namespace schedq
