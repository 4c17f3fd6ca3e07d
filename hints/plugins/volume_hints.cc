#include "hints/plugins/volume_hints.h"

#include "hints/plugins/volume_rules.h"

namespace schedq {

Hint AfterVolumeClaimChange(const Pod& pod, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  return MountsClaim(pod, *change.after) ? Hint::kQueue : Hint::kSkip;
}

}  // namespace schedq
