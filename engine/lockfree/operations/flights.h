// Attempts that are in flight: which there are, and how one ends.
//
// Purpose: the newest attempt of a pod is in its slot's word or record; attempts of earlier
// incarnations hang behind it as older records (pod_record.h).
// Threads: all operations from any thread, lock-free.
// Parts: QueueParts.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/event.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/pod_change.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/place.h"
#include "engine/pod_key.h"

namespace schedq {

template <typename Parts>
class Flights {
 public:
  using Pinned = typename Parts::Pinned;
  using Change = typename Parts::Change;

  explicit Flights(Parts* parts) : parts_(*parts) {}
  Flights(const Flights&) = delete;
  Flights& operator=(const Flights&) = delete;

  // Of this attempt; null: it is not in flight. Inlined as far as the newest attempt goes, as Drop.
  const PodFacts* Of(const Pinned& pinned, const PodKey& key) const {
    const PodFacts& newest = pinned.facts();
    if (pinned.IsInFlight() && newest.key() == key) return &newest;
    return newest.older == kNoRecord ? nullptr : OfOlder(newest, key);
  }
  // Where the attempt began that `Of` gave.
  FlightPosition PositionOf(const Pinned& pinned, const PodFacts& attempt) const {
    return &attempt == &pinned.facts() ? pinned.flight() : attempt.flight;
  }
  // Calls `visit(const PodFacts&)` for each attempt under the name that is in flight.
  template <typename Visit>
  void ForEach(const Pinned& pinned, Visit visit) const;

  // Takes the attempt out of facts that no other thread can see.
  void Drop(PodFacts* own, const PodKey& key) {
    if (own->flight.IsSet() && own->key() == key) {
      own->flight = {};
    } else if (own->older != kNoRecord) {
      DropOlder(own, key);
    }
  }
  // False: it was not in flight. Linearization: the exchange of the slot's word.
  bool End(const PodKey& key);
  void EndAll();
  // Of an attempt that the slot does not show: it was given up, or has ended.
  void EndInLog(FlightPosition flight);
  void EndAttempt(FlightPosition flight);

 private:
  [[gnu::noinline]] const PodFacts* OfOlder(const PodFacts& newest, const PodKey& key) const;
  [[gnu::noinline]] void DropOlder(PodFacts* own, const PodKey& key);
  SlotWord WordWithoutFlight(const Pinned& pinned, const PodKey& key, Change* change);

  Parts& parts_;
};

// Bound: the number of incarnations of one name that are in flight at once.
template <typename Parts>
const PodFacts* Flights<Parts>::OfOlder(const PodFacts& newest, const PodKey& key) const {
  const PodFacts* candidate = &newest;
  while (candidate->older != kNoRecord) {
    candidate = &parts_.table.records().At(candidate->older);
    if (candidate->flight.IsSet() && candidate->key() == key) return candidate;
  }
  return nullptr;
}

template <typename Parts>
template <typename Visit>
void Flights<Parts>::ForEach(const Pinned& pinned, Visit visit) const {
  const PodFacts* facts = &pinned.facts();
  if (pinned.IsInFlight()) visit(*facts);
  while (facts->older != kNoRecord) {
    facts = &parts_.table.records().At(facts->older);
    if (facts->flight.IsSet()) visit(*facts);
  }
}

// Bound: as OfOlder.
template <typename Parts>
void Flights<Parts>::DropOlder(PodFacts* own, const PodKey& key) {
  typename Parts::Records& records = parts_.table.records();
  const uint32_t before = own->older;
  const PodFacts& attempt = records.At(before);
  if (attempt.flight.IsSet() && attempt.key() == key) {
    // It was kept for its attempt alone: what is behind it takes its place.
    own->older = attempt.older;
    if (own->older != kNoRecord) records.Retain(own->older);
  } else {
    own->older = records.Copy(attempt);
    Drop(&records.MutableAt(own->older), key);
  }
  records.Release(before);
}

// The word once the attempt of `key`, which is in flight, is over. The newest one's end needs no
// record.
template <typename Parts>
SlotWord Flights<Parts>::WordWithoutFlight(const Pinned& pinned, const PodKey& key,
                                           Change* change) {
  SlotWord after = pinned.word();
  if (after.attempt == AttemptState::kUnderWay && pinned.facts().key() == key) {
    after.attempt = AttemptState::kOver;
    after.version_or_position = pinned.facts().version;
  } else {
    change->StartFrom(pinned);
    Drop(&change->Edit(), key);
    after = WordWith(after, *change);
  }
  const PodFacts& facts = change->has_own_facts() ? change->facts() : pinned.facts();
  const bool is_gone = !after.live && after.queued == Place::kAbsent && !facts.flight.IsSet() &&
                       facts.older == kNoRecord;
  return is_gone ? SlotWord{.version_or_position = facts.version} : after;
}

// Takes the attempt of `key` out of flight, if it is in flight.
template <typename Parts>
bool Flights<Parts>::End(const PodKey& key) {
  // A retry means that another thread changed this very pod.
  for (;;) {
    const Pinned pinned = parts_.table.Pin(key.id);
    if (!pinned) return false;
    const PodFacts* attempt = Of(pinned, key);
    if (attempt == nullptr) return false;
    const FlightPosition flight = PositionOf(pinned, *attempt);
    Change change(&parts_.table.records(), 0);
    const SlotWord after = WordWithoutFlight(pinned, key, &change);
    if (!parts_.table.Exchange(key.id, pinned, after)) continue;
    // If the pod is gone, no slot names the change's record, and it goes with the change.
    if (after.record != kNoRecord) change.Published();
    EndAttempt(flight);
    if (after.record == kNoRecord) parts_.options.pod_names->Release(key.id);
    return true;
  }
}

// One after the other: those that begin meanwhile stay.
template <typename Parts>
void Flights<Parts>::EndAll() {
  std::vector<PodKey> flying;
  for (PodId id = 0; id < parts_.table.limit(); ++id) {
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned) continue;
    ForEach(pinned, [&](const PodFacts& facts) { flying.push_back(facts.key()); });
  }
  for (const PodKey& key : flying) End(key);
}

template <typename Parts>
void Flights<Parts>::EndInLog(FlightPosition flight) {
  parts_.log.End(flight);
}

// The slot does not say any more that the attempt is in flight.
template <typename Parts>
void Flights<Parts>::EndAttempt(FlightPosition flight) {
  EndInLog(flight);
  parts_.counts.Move(Place::kInFlight, Place::kAbsent);
  parts_.metrics.AddInFlight(LabelOf(SpecialLabel::kPodPopped), -1);
}

}  // namespace schedq
