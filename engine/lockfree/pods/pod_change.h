// What a thread intends for a pod: facts that may differ from the pinned ones, and a place.
//
// Purpose: an operation works everything out in a change. One exchange of the slot's word makes it
// true, and only then do counters, observers and queues hear of it. A change that loses the
// exchange is thrown away and leaves no trace.
// Threads: one.
// Invariant: facts of its own are a record that no other thread can see, and the change's until
// Published.
#pragma once

#include <cstdint>
#include <utility>

#include "engine/base/time/clock.h"
#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"

namespace schedq {

// What PreEnqueue said, if it was asked.
enum class PreEnqueueAnswer : uint8_t { kNotAsked, kPassed, kRejected };

template <template <typename> class Atom>
class PodChange {
 public:
  using Records = PodRecordPool<Atom>;
  using Pinned = typename PodTable<Atom>::Pinned;

  // `epoch` counts the events that had begun before the pod was looked at. `now`: if the operation
  // has read the clock already.
  PodChange(Records* records, uint64_t epoch, MaybeInstant now = {})
      : epoch(epoch), records_(records), now_(now) {}
  PodChange(const PodChange&) = delete;
  PodChange& operator=(const PodChange&) = delete;
  ~PodChange() { records_->Release(own_); }

  // When the operation took place: the clock is read once.
  Instant Now(const Clock& clock) {
    if (!now_) now_ = clock.Now();
    return *now_;
  }

  // From a pinned state, which must outlive the change, or with a pod that is added.
  void StartFrom(const Pinned& pinned) { pinned_ = &pinned; }
  void StartFrom(PodRef pod, uint64_t uid_fingerprint) {
    Own(records_->Make(std::move(pod), uid_fingerprint));
  }

  const uint64_t epoch;

  const PodFacts& facts() const { return own_facts_ != nullptr ? *own_facts_ : pinned_->facts(); }
  // Copies the pinned facts at first use.
  PodFacts& Edit() {
    if (own_facts_ == nullptr) {
      Own(records_->Copy(pinned_->facts()));
      pinned_->TakeOver(own_facts_);
    }
    return *own_facts_;
  }
  bool has_own_facts() const { return own_facts_ != nullptr; }
  uint32_t own_record() const { return own_; }
  // The slot has the record now.
  void Published() { own_ = kNoRecord; }

  Place place = Place::kAbsent;
  // The pod enters active or backoff, or its key there changes: a ticket must be published.
  bool needs_ticket = false;
  bool live = true;
  PreEnqueueAnswer pre_enqueue = PreEnqueueAnswer::kNotAsked;
  PluginId newly_rejected = kNoPlugin;
  // Of a pod that becomes gated: once that is true, others may take the facts away.
  PluginId gating_plugin = kNoPlugin;
  // Of an attempt that ends with the move.
  FlightPosition flight;

 private:
  void Own(uint32_t record) {
    own_ = record;
    own_facts_ = &records_->MutableAt(record);
  }

  Records* const records_;
  const Pinned* pinned_ = nullptr;
  uint32_t own_ = kNoRecord;
  PodFacts* own_facts_ = nullptr;
  MaybeInstant now_;
};

// The word that names the change's own record and says nothing that the record says.
template <template <typename> class Atom>
SlotWord WordWith(const SlotWord& before, const PodChange<Atom>& change) {
  SlotWord after = before;
  after.record = change.own_record();
  after.attempt = AttemptState::kNone;
  after.version_or_position = change.facts().version;
  return after;
}

}  // namespace schedq
