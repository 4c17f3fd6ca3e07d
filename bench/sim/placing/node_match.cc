#include "bench/sim/placing/node_match.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "bench/format/objects/api_object.h"
#include "hints/plugins/tolerations.h"

namespace schedq {
namespace {

const std::string* FindValue(const NodeRequirement& requirement, const ObjectView& node) {
  if (requirement.is_field) return requirement.key == "metadata.name" ? &node.name : nullptr;
  for (const auto& [key, value] : node.labels) {
    if (key == requirement.key) return &value;
  }
  return nullptr;
}

std::optional<int64_t> ToInteger(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Compares the label with the requirement's only value: -1, 0 or 1 for below, equal or above.
// nullopt where one of them is no whole number.
std::optional<int> Compare(const std::string* value, const NodeRequirement& requirement) {
  if (value == nullptr || requirement.values.size() != 1) return std::nullopt;
  const std::optional<int64_t> left = ToInteger(*value);
  const std::optional<int64_t> right = ToInteger(requirement.values[0]);
  if (!left || !right) return std::nullopt;
  return *left < *right ? -1 : (*left > *right ? 1 : 0);
}

bool Meets(const NodeRequirement& requirement, const ObjectView& node) {
  using Operator = NodeRequirement::Operator;
  const std::string* value = FindValue(requirement, node);
  const auto& values = requirement.values;
  const bool is_listed =
      value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
  switch (requirement.op) {
    case Operator::kIn:
      return is_listed;
    case Operator::kNotIn:
      return !is_listed;
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreater:
      return Compare(value, requirement) == 1;
    case Operator::kLess:
      return Compare(value, requirement) == -1;
  }
  return false;
}

bool MeetsTerm(const NodeTerm& term, const ObjectView& node) {
  return !term.empty() && std::all_of(term.begin(), term.end(), [&](const NodeRequirement& each) {
    return Meets(each, node);
  });
}

}  // namespace

bool ToleratesCordon(const Pod& pod) {
  static const Taint kCordoned{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  return ToleratesTaint(pod.tolerations, kCordoned);
}

bool ToleratesTaints(const Pod& pod, const ObjectView& node) {
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const Taint& taint) {
    return taint.effect == "PreferNoSchedule" || ToleratesTaint(pod.tolerations, taint);
  });
}

bool MatchesAffinity(const ClusterPod& pod, const ObjectView& node) {
  if (!MatchesSelector(node.labels, pod.node_selector)) return false;
  const auto& terms = pod.spec().node_terms;
  return terms.empty() || std::any_of(terms.begin(), terms.end(),
                                      [&](const NodeTerm& term) { return MeetsTerm(term, node); });
}

}  // namespace schedq
