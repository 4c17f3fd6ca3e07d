// The read side. What is read about one pod belongs together; what is read about many is no
// snapshot.
#pragma once

#include <string>
#include <string_view>

#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"

namespace schedq {

template <template <typename> class Atom, typename Shape>
std::vector<PodRef> BasicLockfreeQueue<Atom, Shape>::List(Place place) const {
  std::vector<PodRef> pods;
  for (PodId id = 0; id < table_.limit(); ++id) {
    const Pinned pinned = table_.Pin(id);
    if (!pinned) continue;
    if (place != Place::kInFlight) {
      const Place here = place == Place::kAbsent ? pinned.Shown() : pinned.word().queued;
      if (here == place) pods.push_back(pinned.facts().pod);
      continue;
    }
    ForEachFlight(pinned, [&](const PodFacts& facts) { pods.push_back(facts.pod); });
  }
  if (groups_ != nullptr) ListMembers(place, &pods);
  return pods;
}

// The newest incarnation is the only one that can be queued; an older one may be in flight.
template <template <typename> class Atom, typename Shape>
PodWhereabouts BasicLockfreeQueue<Atom, Shape>::Where(std::string_view pod_name) const {
  const std::optional<PodId> id = options_.pod_names->Find(pod_name);
  if (!id) return {};
  PodWhereabouts member;
  const bool is_member = groups_ != nullptr && WhereIsMember(*id, &member);
  if (is_member && member.live) return member;
  const Pinned pinned = table_.Pin(*id);
  // Where the member is not live, a single pod of its name may have come since, or be in flight.
  const bool is_single = pinned && (pinned.word().live || member.place == Place::kAbsent);
  if (is_member && !is_single) return member;
  if (!pinned) return {};
  const PodFacts& newest = pinned.facts();
  if (pinned.word().queued != Place::kAbsent || pinned.IsInFlight() || newest.older == kNoRecord) {
    return {pinned.Shown(), newest.pod, pinned.word().live, pinned.fields()};
  }
  const PodFacts& older = table_.records().At(newest.older);
  const bool is_live = pinned.word().live && older.key() == newest.key();
  return {pinned.Shown(), older.pod, is_live, older.fields};
}

template <template <typename> class Atom, typename Shape>
std::vector<PodRef> BasicLockfreeQueue<Atom, Shape>::NominatedPods(std::string_view node) const {
  std::vector<PodRef> pods;
  const auto groups = groups_ != nullptr ? groups_->state.load() : nullptr;
  for (const auto& [id, nomination] : nominations_.On(node)) {
    const MemberState* const member = groups != nullptr ? groups->members.Get(id) : nullptr;
    if (member != nullptr && member->nomination == nomination) {
      pods.push_back(member->pod);
      continue;
    }
    const Pinned pinned = table_.Pin(id);
    if (pinned && pinned.facts().nomination == nomination) {
      pods.push_back(pinned.facts().pod);
    }
  }
  return pods;
}

template <template <typename> class Atom, typename Shape>
std::string BasicLockfreeQueue<Atom, Shape>::NominatedNode(const PodKey& pod) const {
  // A retry means that another thread has nominated this very pod anew.
  for (;;) {
    if (const auto state = groups_ != nullptr ? StateWith(pod) : nullptr) {
      const Nomination nomination = GroupChange::FindIn(*state, pod)->nomination;
      if (const auto name = nominations_.NodeName(pod.id, nomination)) return *name;
      continue;
    }
    const Pinned pinned = table_.Pin(pod.id);
    if (!pinned || !(pinned.facts().key() == pod)) return {};
    const auto name = nominations_.NodeName(pod.id, pinned.facts().nomination);
    if (name) return *name;
  }
}

}  // namespace schedq
