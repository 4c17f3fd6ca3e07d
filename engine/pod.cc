#include "engine/pod.h"

#include <algorithm>

namespace schedq {

std::string_view LabelValue(const Labels& labels, std::string_view key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return value;
  }
  return {};
}

}  // namespace schedq
