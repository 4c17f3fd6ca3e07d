#include "engine/place.h"

#include <array>

namespace schedq {

std::string_view PlaceName(Place place) {
  static constexpr std::array<std::string_view, kPlaceCount> kNames = {
      "absent", "active",    "backoff",    "error-backoff", "unschedulable",
      "gated",  "in-flight", "incomplete", "pending"};
  return kNames[static_cast<int>(place)];
}

}  // namespace schedq
