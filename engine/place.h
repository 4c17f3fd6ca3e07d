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
  // Of a member of a group only.
  kIncomplete,  // Its group, or one above it, is not known.
  kPending,     // Its group is in its cycle.
};
inline constexpr int kPlaceCount = 9;

// "active", "error-backoff", ...
std::string_view PlaceName(Place place);

constexpr bool InPool(Place place) {
  return place == Place::kUnschedulable || place == Place::kGated;
}
constexpr bool InBackoff(Place place) {
  return place == Place::kBackoff || place == Place::kErrorBackoff;
}

}  // namespace schedq
