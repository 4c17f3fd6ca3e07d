// Where a pod is. The pool of docs/semantics.md is kUnschedulable and kGated together.
#pragma once

#include <cstdint>
#include <string_view>

namespace schedq {

enum class Place : uint8_t {
  kAbsent,
  kActive,
  kBackoff,
  kErrorBackoff,
  kUnschedulable,
  kGated,
  kInFlight,
};
inline constexpr int kPlaceCount = 7;

// "active", "error-backoff", ...
std::string_view PlaceName(Place place);

constexpr bool InPool(Place place) {
  return place == Place::kUnschedulable || place == Place::kGated;
}
constexpr bool InBackoff(Place place) {
  return place == Place::kBackoff || place == Place::kErrorBackoff;
}

}  // namespace schedq
