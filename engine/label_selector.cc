#include "engine/label_selector.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

namespace schedq {
namespace {

std::optional<int64_t> ToInteger(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Compares the label with the requirement's only value: -1, 0 or 1 for below, equal or above.
// nullopt where one of them is no whole number.
std::optional<int> Compare(const std::string* value, const LabelRequirement& requirement) {
  if (value == nullptr || requirement.values.size() != 1) return std::nullopt;
  const std::optional<int64_t> left = ToInteger(*value);
  const std::optional<int64_t> right = ToInteger(requirement.values[0]);
  if (!left || !right) return std::nullopt;
  return *left < *right ? -1 : (*left > *right ? 1 : 0);
}

}  // namespace

const std::string* FindLabel(const Labels& labels, const std::string& key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Meets(const LabelRequirement& requirement, const std::string* value) {
  using Operator = LabelRequirement::Operator;
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

bool MatchesLabels(const LabelSelector& selector, const Labels& labels) {
  return std::all_of(selector.begin(), selector.end(), [&](const LabelRequirement& requirement) {
    return Meets(requirement, FindLabel(labels, requirement.key));
  });
}

}  // namespace schedq
