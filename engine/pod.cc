#include "engine/pod.h"

#include <algorithm>

namespace schedq {

std::string_view LabelValue(const Labels& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return value;
  }
  return {};
}

void SetLabel(Labels* labels, const std::string& key, const std::string& value) {
  const auto at = std::lower_bound(
      labels->begin(), labels->end(), key,
      [](const auto& label, const std::string& wanted) { return label.first < wanted; });
  if (at != labels->end() && at->first == key) {
    at->second = value;
  } else {
    labels->insert(at, {key, value});
  }
}

std::string QualifiedName(std::string_view namespace_name, std::string_view name) {
  std::string text(namespace_name);
  if (!text.empty()) text += '/';
  return text += name;
}

}  // namespace schedq
