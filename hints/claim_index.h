// Live pods by the ResourceClaims that they use.
//
// Purpose: which pods may a change of this claim concern? A pod uses the claims named in its spec
// and those generated for it, as its status says; several pods may share one claim.
// When not to use it: whether a claim exists is KnownClaims' business.
// Threads: any; Update calls for one pod must come in their order. One shared_mutex: readers do not
// exclude each other, a writer excludes everybody.
// Invariants:
//  1. A pod is listed under a claim exactly if the last Update for it named the claim in `after`.
//  2. A listed pod's PodId is held: it cannot come to mean another pod while it is listed.
//  3. A claim without pods takes no memory.
// Memory: per claim its name, a hash node and 4 bytes a pod; names are stored once, whatever the
// number of pods.
#pragma once

#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/interner.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "hints/object_name.h"

namespace schedq {

class ClaimIndex {
 public:
  explicit ClaimIndex(Interner* pod_names) : pod_names_(pod_names) {}
  ~ClaimIndex();
  ClaimIndex(const ClaimIndex&) = delete;
  ClaimIndex& operator=(const ClaimIndex&) = delete;

  // Replaces what `before` was listed under by what `after` uses; null: not live on that side. Both
  // are versions of one pod.
  void Update(const Pod* before, const Pod* after);

  // Calls `visit(PodId)` for each pod that uses the claim, each once, in no stated order. Does not
  // allocate. `visit` must not call the index.
  template <typename Visit>
  void Lookup(std::string_view namespace_name, std::string_view claim, Visit visit) const {
    std::shared_lock lock(mutex_);
    const auto found = pods_by_claim_.find(ObjectNameView{namespace_name, claim});
    if (found == pods_by_claim_.end()) return;
    for (const PodId pod : found->second) visit(pod);
  }

  // The number of claims that some live pod uses.
  size_t size() const;

 private:
  // With mutex_ held.
  void Insert(ObjectNameView claim, PodId pod);
  void Erase(ObjectNameView claim, PodId pod);

  Interner* const pod_names_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<ObjectName, std::vector<PodId>, ObjectNameHash, ObjectNameEqual>
      pods_by_claim_;  // Guarded by mutex_.
};

}  // namespace schedq
