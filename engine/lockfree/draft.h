// What a thread intends for a pod: facts that may differ from the pinned ones, and a place.
//
// Purpose: everything is worked out on a draft; one exchange of the slot's word makes it true, and
// only then do counters, observers and queues hear of it. A draft that loses the exchange is thrown
// away and leaves no trace. Threads: one.
#pragma once

#include <utility>

#include "engine/lockfree/pod_record.h"
#include "engine/lockfree/pod_table.h"
#include "engine/place.h"

namespace schedq {

class Draft {
 public:
  // What PreEnqueue said, if it was asked.
  enum class Door : uint8_t { kNotAsked, kPassed, kRejected };

  // `epoch` counts the events that had begun before the pod was looked at.
  explicit Draft(uint64_t epoch) : epoch(epoch) {}
  Draft(const PodFacts& pinned, uint64_t epoch) : epoch(epoch), pinned_(&pinned) {}

  // From pinned facts, which must outlive the draft, or from facts of its own.
  void StartFrom(const PodFacts& pinned) { pinned_ = &pinned; }
  void StartFrom(PodFacts&& own) {
    own_ = std::move(own);
    is_changed_ = true;
  }

  const uint64_t epoch;

  const PodFacts& facts() const { return is_changed_ ? own_ : *pinned_; }
  // Copies the pinned facts at first use.
  PodFacts& Edit() {
    if (!is_changed_) own_ = *pinned_;
    is_changed_ = true;
    return own_;
  }
  bool is_changed() const { return is_changed_; }
  PodFacts TakeOwn() { return std::move(own_); }

  Place place = Place::kAbsent;
  // The pod enters active or backoff, or its key there changes: a ticket must be published.
  bool needs_ticket = false;
  bool live = true;
  Door door = Door::kNotAsked;
  PluginId newly_rejected = kNoPlugin;

 private:
  const PodFacts* pinned_ = nullptr;
  bool is_changed_ = false;
  PodFacts own_;
};

}  // namespace schedq
