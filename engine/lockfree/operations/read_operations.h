// The read side. What is read about one pod belongs together; what is read about many is no
// snapshot.
//
// Threads: all operations from any thread, lock-free. Reads finish no other thread's move.
// Linearization: of one pod, a moment at which its slot held what was read.
// Parts: QueueParts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/operations/flights.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"

namespace schedq {

template <typename Parts>
class ReadOperations {
 public:
  using Pinned = typename Parts::Pinned;

  ReadOperations(Parts* parts, const Flights<Parts>& flights) : parts_(*parts), flights_(flights) {}
  ReadOperations(const ReadOperations&) = delete;
  ReadOperations& operator=(const ReadOperations&) = delete;

  QueueCounts Counts() const;
  std::vector<PodRef> List(Place place) const;
  PodWhereabouts Where(std::string_view pod_name) const;
  std::vector<PodRef> NominatedPods(std::string_view node) const;
  std::string NominatedNode(const PodKey& pod) const;

 private:
  bool WhereIsMember(PodId id, PodWhereabouts* where) const;
  void ListMembers(Place place, std::vector<PodRef>* pods) const;

  Parts& parts_;
  const Flights<Parts>& flights_;
};

template <typename Parts>
QueueCounts ReadOperations<Parts>::Counts() const {
  QueueCounts counts = parts_.counts.Read();
  if (parts_.groups == nullptr) return counts;
  const QueueCounts members = parts_.groups->state.load()->counts;
  counts.active += members.active;
  counts.error_backoff += members.error_backoff;
  counts.gated += members.gated;
  counts.in_flight += members.in_flight;
  counts.incomplete = members.incomplete;
  counts.pending = members.pending;
  counts.grouped_active = members.grouped_active;
  counts.grouped_error_backoff = members.grouped_error_backoff;
  counts.grouped_gated = members.grouped_gated;
  return counts;
}

template <typename Parts>
std::vector<PodRef> ReadOperations<Parts>::List(Place place) const {
  std::vector<PodRef> pods;
  for (PodId id = 0; id < parts_.table.limit(); ++id) {
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned) continue;
    if (place != Place::kInFlight) {
      const Place here = place == Place::kAbsent ? pinned.Shown() : pinned.word().queued;
      if (here == place) pods.push_back(pinned.facts().pod);
      continue;
    }
    flights_.ForEach(pinned, [&](const PodFacts& facts) { pods.push_back(facts.pod); });
  }
  if (parts_.groups != nullptr) ListMembers(place, &pods);
  return pods;
}

// The newest incarnation is the only one that can be queued; an older one may be in flight.
template <typename Parts>
PodWhereabouts ReadOperations<Parts>::Where(std::string_view pod_name) const {
  const std::optional<PodId> id = parts_.options.pod_names->Find(pod_name);
  if (!id) return {};
  PodWhereabouts member;
  const bool is_member = parts_.groups != nullptr && WhereIsMember(*id, &member);
  if (is_member && member.live) return member;
  const Pinned pinned = parts_.table.Pin(*id);
  // Where the member is not live, a single pod of its name may have come since, or be in flight.
  const bool is_single = pinned && (pinned.word().live || member.place == Place::kAbsent);
  if (is_member && !is_single) return member;
  if (!pinned) return {};
  const PodFacts& newest = pinned.facts();
  if (pinned.word().queued != Place::kAbsent || pinned.IsInFlight() || newest.older == kNoRecord) {
    return {pinned.Shown(), newest.pod, pinned.word().live, pinned.fields()};
  }
  const PodFacts& older = parts_.table.records().At(newest.older);
  const bool is_live = pinned.word().live && older.key() == newest.key();
  return {pinned.Shown(), older.pod, is_live, older.fields};
}

template <typename Parts>
std::vector<PodRef> ReadOperations<Parts>::NominatedPods(std::string_view node) const {
  std::vector<PodRef> pods;
  const auto groups = parts_.groups != nullptr ? parts_.groups->state.load() : nullptr;
  for (const auto& [id, nomination] : parts_.nominations.On(node)) {
    const MemberState* const member = groups != nullptr ? groups->members.Get(id) : nullptr;
    if (member != nullptr && member->nomination == nomination) {
      pods.push_back(member->pod);
      continue;
    }
    const Pinned pinned = parts_.table.Pin(id);
    if (pinned && pinned.facts().nomination == nomination) {
      pods.push_back(pinned.facts().pod);
    }
  }
  return pods;
}

template <typename Parts>
std::string ReadOperations<Parts>::NominatedNode(const PodKey& pod) const {
  // A retry means that another thread has nominated this very pod anew.
  for (;;) {
    if (const auto state = parts_.groups != nullptr ? parts_.groups->StateWith(pod) : nullptr) {
      const Nomination nomination = GroupChange::FindIn(*state, pod)->nomination;
      if (const auto name = parts_.nominations.NodeName(pod.id, nomination)) return *name;
      continue;
    }
    const Pinned pinned = parts_.table.Pin(pod.id);
    if (!pinned || !(pinned.facts().key() == pod)) return {};
    const auto name = parts_.nominations.NodeName(pod.id, pinned.facts().nomination);
    if (name) return *name;
  }
}

// Whether a member of this name is there; of several incarnations the newest that is somewhere.
template <typename Parts>
bool ReadOperations<Parts>::WhereIsMember(PodId id, PodWhereabouts* where) const {
  const auto state = parts_.groups->state.load();
  const MemberState* const newest = state->members.Get(id);
  if (newest == nullptr) return false;
  const MemberState* member = newest;
  const auto is_absent = [&] {
    return member->stands == Place::kAbsent && member->flight == nullptr;
  };
  while (is_absent() && member->older != nullptr) member = member->older.get();
  if (is_absent()) member = newest;
  Place place = GroupChange::PlaceIn(*state, *member);
  if (place == Place::kAbsent && member->flight != nullptr) place = Place::kInFlight;
  *where = {place, member->pod, member->live, member->fields};
  if (member->stands == Place::kActive) {
    const QueueingFields& entity = state->roots.Get(member->root)->fields;
    where->fields.backoff_expiration = entity.backoff_expiration;
    where->fields.gating_plugin = entity.gating_plugin;
  }
  return true;
}

template <typename Parts>
void ReadOperations<Parts>::ListMembers(Place place, std::vector<PodRef>* pods) const {
  const auto state = parts_.groups->state.load();
  state->members.ForEach([&](uint32_t, const MemberState& newest) {
    for (const MemberState* member = &newest; member != nullptr; member = member->older.get()) {
      const Place stands = GroupChange::PlaceIn(*state, *member);
      const bool is_in_flight = member->flight != nullptr;
      bool is_here = stands == place;
      if (place == Place::kInFlight) is_here = is_in_flight;
      if (place == Place::kAbsent) is_here = stands == Place::kAbsent && !is_in_flight;
      if (is_here) pods->push_back(member->pod);
    }
  });
}

}  // namespace schedq
