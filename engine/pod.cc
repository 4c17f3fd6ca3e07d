#include "engine/pod.h"

#include <algorithm>

namespace schedq {

std::string_view LabelValue(const Labels& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return value;
  }
  return {};
}

std::string QualifiedName(std::string_view namespace_name, std::string_view name) {
  std::string text(namespace_name);
  if (!text.empty()) text += '/';
  return text += name;
}

}  // namespace schedq
