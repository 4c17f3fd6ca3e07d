// Names for pods that cost a register instead of a string.
#pragma once

#include <cstdint>
#include <string_view>

namespace schedq {

// A dense number for a pod's "namespace/name", from the interner that the queue, the hints and the
// driver share. A number is used again only when no reference to it is held.
using PodId = uint32_t;
inline constexpr PodId kNoPod = ~PodId{0};

// One incarnation of a pod. A pod that is deleted and created anew under its name has another uid.
// The fingerprint is a 64-bit hash of the uid. Only fingerprints of one name are compared, so a
// mistake would need a collision between two uids of the same name.
struct PodKey {
  PodId id = kNoPod;
  uint64_t uid_fingerprint = 0;

  bool operator==(const PodKey&) const = default;
};

uint64_t UidFingerprint(std::string_view uid);

}  // namespace schedq
