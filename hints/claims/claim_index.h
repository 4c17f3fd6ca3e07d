// The ResourceClaims that exist, and the live pods by the claims that they use.
//
// Purpose: it answers whether a claim exists, and which pods a change of the claim may concern. A
// pod uses the claims named in its spec and those generated for it, as its status says. Several
// pods may share one claim, and a claim may be used before it exists.
// When not to use it: to learn whether a claim is allocated.
// Threads: any. Calls of Update for one pod, and of Insert and Erase for one claim, must come in
// their order. Exists and Lookup write nothing and, for claims of up to four pods, allocate nothing
// and look at three cache lines. All operations are lock-free.
//
// Structure: the claim's name has a number (interner.h), which names a record: whether the claim
// exists, four places for pods, and a chain of blocks for more, each twice as large as the one
// before it. A pod keeps its place until it is removed, so a walk over the places finds each pod
// that stays. A pod's number says in which cache line of a block its place is.
//
// Linearization: Update claim by claim, at the exchange of the place; Insert and Erase at the
// exchange of `exists`; Exists and Lookup of a known name at the load of what they return, of an
// unknown one where the interner says. Lookup is no snapshot: it reports each pod that used the
// claim during the whole call. It may report a pod that began or ceased to use it meanwhile, and
// twice a pod that did both.
//
// Invariants:
//  1. A pod is listed under a claim exactly if the last Update for it named the claim in `after`.
//  2. A listed pod's PodId is held: it cannot pass to another pod while it is listed.
//  3. Each listed pod, and the claim's existence, hold one reference to the claim's name. So when
//     the name's number is used for another claim, the record says: no pods, does not exist.
//  4. One thread changes a pod's claims and then asks whether a claim exists; another inserts that
//     claim and then asks for its pods. At least one of them sees what the other did: all accesses
//     to a record are sequentially consistent.
// Memory: a name (interner.h) and 32 bytes a claim that exists or is used. Blocks stay with the
// number: what was needed for the most pods that a claim of this number had at one time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/names/interner.h"
#include "engine/base/segmented_array.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "hints/claims/claim_record.h"
#include "hints/plugin.h"

namespace schedq {

template <template <typename> class Atom>
class BasicClaimIndex {
 public:
  // The first segments hold 2^first_bits claims.
  explicit BasicClaimIndex(BasicInterner<Atom>* pod_names, uint32_t first_bits = 10)
      : pod_names_(pod_names), claim_names_(first_bits), records_(first_bits) {}
  ~BasicClaimIndex();
  BasicClaimIndex(const BasicClaimIndex&) = delete;
  BasicClaimIndex& operator=(const BasicClaimIndex&) = delete;

  // The claim exists from now on, or no longer. Either may be called again without effect. A claim
  // for whose name there is no room (interner.h) does not exist.
  void Insert(std::string_view namespace_name, std::string_view claim);
  void Erase(std::string_view namespace_name, std::string_view claim);
  bool Exists(std::string_view namespace_name, std::string_view claim) const;

  // Replaces what `before` was listed under by what `after` uses; null: not live on that side. Both
  // are versions of one pod; two pods are two updates. What `before` names and is not listed is
  // passed over, and so is what is listed already. What it fails to name stays listed, and Lookup
  // reports a pod too many, until an Update names it. False: there is no room for the name of the
  // pod or of a claim, and nothing has changed.
  bool Update(const Pod* before, const Pod* after);

  // Appends each pod that uses the claim, in no stated order.
  void Lookup(std::string_view namespace_name, std::string_view claim, PodList* pods) const;

  // The number of claims that exist or that some live pod uses. May be stale.
  size_t size() const { return claim_names_.size(); }

 private:
  using Record = ClaimRecord<Atom>;

  // A reference to the claim's name, and its record; null: there is no room for the name.
  struct Held {
    uint32_t claim;
    Record* record;
  };
  Held Hold(std::string_view namespace_name, std::string_view claim);
  // Calls `read(number, record)` as the interner's ReadKnown does; the record may be null.
  template <typename Read>
  bool ReadRecord(std::string_view namespace_name, std::string_view claim, Read read) const;

  enum class Listing : uint8_t { kNew, kThereAlready, kRefused };
  Listing List(std::string_view namespace_name, std::string_view claim, PodId pod);
  // Lists the pod under each claim that `after` names beyond `before`, or under none.
  bool ListBeyond(const Pod* before, const Pod* after, PodId pod);
  void Unlist(std::string_view namespace_name, std::string_view claim, PodId pod);

  BasicInterner<Atom>* const pod_names_;
  BasicInterner<Atom> claim_names_;
  SegmentedArray<Record, Atom> records_;  // By the number of the claim's name.
};

using ClaimIndex = BasicClaimIndex<std::atomic>;

extern template class BasicClaimIndex<std::atomic>;

}  // namespace schedq
