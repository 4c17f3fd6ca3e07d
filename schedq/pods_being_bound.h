// Pods on their way to a node: their attempts are done, and the cluster has not told yet of the
// binding. What it tells of them meanwhile must not bring them back into the queue.
//
// Purpose: an update of such a pod is withheld from the queue, which would take it for a new pod,
// until its binding ends.
// When not to use it: for pods that are queued or in flight; the engine keeps their versions.
//
// Threads: any, at any time; two updates of one pod in their order. Every function is lock-free: a
// failed exchange means that another thread withheld, took or ended.
// Invariants:
//  1. A slot's state is null exactly while no binding is under way for its pod number, and
//     otherwise the mark or a version.
//  2. A version belongs to the thread that exchanges it out of the slot. End applies it while the
//     slot still says that a binding is under way, so no later update overtakes it.
//  3. A pod that is gone does not come back: Forget takes the fingerprint away before the queue is
//     told that the pod is gone, and End looks at it after it has applied. All are sequentially
//     consistent, so End sees it, or the queue hears of the end after the version.
// Memory: 16 bytes a pod number, and one version for each pod that changed while it was bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "engine/base/segmented_array.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {

template <template <typename> class Atom = std::atomic>
class BasicPodsBeingBound {
 public:
  BasicPodsBeingBound() = default;
  BasicPodsBeingBound(const BasicPodsBeingBound&) = delete;
  BasicPodsBeingBound& operator=(const BasicPodsBeingBound&) = delete;
  ~BasicPodsBeingBound() {
    for (uint64_t id = 0; id < withheld_end_.load(); ++id) Free(slots_[id].state.load());
  }

  // The binding of this incarnation begins.
  void Begin(const PodKey& key) {
    slots_.ReserveThrough(key.id);
    Slot& slot = slots_[key.id];
    slot.fingerprint.store(key.uid_fingerprint);
    Free(slot.state.exchange(Mark()));
  }

  // Whether the binding of this incarnation has begun, and it was not forgotten since.
  bool Has(const PodKey& key) const { return Find(key) != nullptr; }

  // True: the version is kept until the binding ends. False: no binding is under way.
  bool Withhold(const PodKey& key, const PodRef& version) {
    Slot* const slot = Find(key);
    if (slot == nullptr) return false;
    PodRef* state = slot->state.load();
    if (state == nullptr) return false;
    RaiseWithheldEnd(key.id + uint64_t{1});
    auto kept = std::make_unique<PodRef>(version);
    while (state != nullptr) {
      if (!slot->state.compare_exchange_weak(state, kept.get())) continue;
      static_cast<void>(kept.release());
      Free(state);
      return true;
    }
    return false;
  }

  // The binding of this incarnation has failed. apply(version) is called for what was withheld, in
  // order, before a later update can be told of directly. False: the pod was forgotten meanwhile,
  // and what was applied must be taken back.
  template <typename Apply>
  bool End(const PodKey& key, const Apply& apply) {
    Slot* const slot = Find(key);
    if (slot == nullptr) return true;
    PodRef* state = slot->state.load();
    while (state != nullptr) {
      PodRef* const next = state == Mark() ? nullptr : Mark();
      if (!slot->state.compare_exchange_weak(state, next)) continue;
      if (next == nullptr) break;
      const std::unique_ptr<PodRef> version(state);
      if (UidFingerprint((*version)->uid) == key.uid_fingerprint) apply(*version);
      state = Mark();
    }
    return slot->fingerprint.load() == key.uid_fingerprint;
  }

  // The pod is deleted or bound; before the queue is told of it. Returns the newest version that
  // was withheld; null: none was.
  PodRef Forget(const PodKey& key) {
    Slot* const slot = Find(key);
    if (slot == nullptr) return nullptr;
    uint64_t expected = key.uid_fingerprint;
    if (!slot->fingerprint.compare_exchange_strong(expected, 0)) return nullptr;
    PodRef* const state = slot->state.exchange(nullptr);
    if (state == nullptr || state == Mark()) return nullptr;
    return std::move(*std::unique_ptr<PodRef>(state));
  }

 private:
  struct Slot {
    // Of the incarnation whose binding began last. Set by Begin before the state, taken away by
    // Forget.
    Atom<uint64_t> fingerprint;
    // Null: no binding is under way. Mark(): one is. Else one is, and this version was withheld.
    Atom<PodRef*> state;
  };
  static_assert(!std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>> || sizeof(Slot) == 16,
                "four pods a cache line");

  // The address of no version.
  static PodRef* Mark() {
    static PodRef mark;
    return &mark;
  }
  static void Free(PodRef* state) {
    if (state != Mark()) delete state;
  }

  // Null: no binding of this incarnation has begun.
  Slot* Find(const PodKey& key) const {
    Slot* const slot = key.id == kNoPod ? nullptr : slots_.Find(key.id);
    return slot != nullptr && slot->fingerprint.load() == key.uid_fingerprint ? slot : nullptr;
  }

  // Each failed exchange means that another thread raised it.
  void RaiseWithheldEnd(uint64_t end) {
    uint64_t seen = withheld_end_.load();
    while (seen < end && !withheld_end_.compare_exchange_weak(seen, end)) {
    }
  }

  SegmentedArray<Slot, Atom> slots_{12};
  // Slots from here on never withheld a version. Raised before one does; read by the destructor.
  Atom<uint64_t> withheld_end_{0};
};

using PodsBeingBound = BasicPodsBeingBound<>;

}  // namespace schedq
