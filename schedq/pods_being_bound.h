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
//  2. A version belongs to the thread that exchanges it out of the slot. A version is applied while
//     the slot still says that a binding is under way, so no later update overtakes it.
// Memory: 16 bytes a pod number, and one version for each pod that changed while it was bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/base/segmented_array.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {

class PodsBeingBound {
 public:
  PodsBeingBound() = default;
  PodsBeingBound(const PodsBeingBound&) = delete;
  PodsBeingBound& operator=(const PodsBeingBound&) = delete;
  ~PodsBeingBound() {
    for (uint64_t id = 0; id < withheld_end_.load(); ++id) Free(slots_[id].state.load());
  }

  // The binding of this incarnation begins.
  void Begin(const PodKey& key) {
    slots_.ReserveThrough(key.id);
    Slot& slot = slots_[key.id];
    slot.fingerprint.store(key.uid_fingerprint);
    Free(slot.state.exchange(Mark()));
  }

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

  // The binding of this incarnation has ended. apply(version) is called for what was withheld, in
  // order, before a later update can be told of directly.
  template <typename Apply>
  void End(const PodKey& key, const Apply& apply) {
    Slot* const slot = Find(key);
    if (slot == nullptr) return;
    PodRef* state = slot->state.load();
    while (state != nullptr) {
      PodRef* const next = state == Mark() ? nullptr : Mark();
      if (!slot->state.compare_exchange_weak(state, next)) continue;
      if (next == nullptr) return;
      const std::unique_ptr<PodRef> version(state);
      if (UidFingerprint((*version)->uid) == key.uid_fingerprint) apply(*version);
      state = Mark();
    }
  }

 private:
  struct Slot {
    // Of the incarnation whose binding began last. Written by Begin before the state.
    std::atomic<uint64_t> fingerprint;
    // Null: no binding is under way. Mark(): one is. Else one is, and this version was withheld.
    std::atomic<PodRef*> state;
  };
  static_assert(sizeof(Slot) == 16, "four pods a cache line");

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

  SegmentedArray<Slot> slots_{12};
  // Slots from here on never withheld a version. Raised before one does; read by the destructor.
  std::atomic<uint64_t> withheld_end_{0};
};

}  // namespace schedq
