// Members: how they come, are updated, fail and go.
#include "engine/lockfree/groups/group_change.h"

#include <algorithm>
#include <utility>

#include "engine/base/result.h"
#include "engine/lockfree/pods/told_numbers.h"
#include "engine/pod_events.h"
#include "engine/queueing_fields.h"

namespace schedq {

GroupChange::GroupChange(const QueueOptions& options, GroupResources* resources,
                         Interner* group_names, std::shared_ptr<const GroupState> from)
    : options_(options),
      resources_(*resources),
      group_names_(*group_names),
      from_(std::move(from)),
      owner_(from_->version + 1),
      epoch_(resources->EventEpoch()),
      state_(*from_) {
  state_.version = owner_;
}

GroupChange::~GroupChange() {
  if (is_published_) return;
  for (const PodId id : names_taken_) options_.pod_names->Release(id);
  for (const GroupId id : groups_taken_) group_names_.Release(id);
  for (const FlightPosition flight : flights_begun_) resources_.EndFlight(flight);
  for (const auto& [id, nomination] : nominations_begun_) resources_.EndNomination(id, nomination);
}

void GroupChange::Published() {
  is_published_ = true;
  for (const FlightPosition flight : flights_ended_) resources_.EndFlight(flight);
  for (const auto& [id, nomination] : nominations_ended_) resources_.EndNomination(id, nomination);
  for (const PodId id : names_freed_) options_.pod_names->Release(id);
  for (const GroupId id : groups_freed_) group_names_.Release(id);
}

Instant GroupChange::Now() {
  if (!now_) now_ = options_.clock->Now();
  return *now_;
}

// Records.

const MemberState* GroupChange::FindIn(const GroupState& state, const PodKey& key) {
  const MemberState* member = key.id == kNoPod ? nullptr : state.members.Get(key.id);
  while (member != nullptr && !(member->key == key)) member = member->older.get();
  return member;
}

Place GroupChange::PlaceIn(const GroupState& state, const MemberState& member) {
  if (member.stands != Place::kActive) return member.stands;
  return state.roots.Get(member.root)->place;
}

// Those above it in the chain of its name are made anew too.
MemberState* GroupChange::Edit(PodKey key) {
  const MemberState* const newest = state_.members.Get(key.id);
  if (newest->owner == owner_ && newest->key == key) return const_cast<MemberState*>(newest);
  auto fresh = std::make_shared<MemberState>(*newest);
  MemberState* at = fresh.get();
  at->owner = owner_;
  state_.members.Set(key.id, std::move(fresh), owner_);
  while (!(at->key == key)) {
    auto older = std::make_shared<MemberState>(*at->older);
    MemberState* const next = older.get();
    next->owner = owner_;
    at->older = std::move(older);
    at = next;
  }
  return at;
}

MemberState* GroupChange::MakeNewest(const PodRef& pod, const PodKey& key) {
  auto fresh = std::make_shared<MemberState>();
  fresh->key = key;
  fresh->pod = pod;
  if (Find(key) != nullptr) {
    // An incarnation that comes back after another one is the newest again.
    *fresh = *Find(key);
    const MemberState* const newest = state_.members.Get(key.id);
    if (!(newest->key == key)) {
      MemberState* above = Edit(newest->key);
      while (!(above->older->key == key)) above = Edit(above->older->key);
      above->older = fresh->older;
    } else {
      fresh->older = nullptr;
    }
  }
  const MemberState* const newest = state_.members.Get(key.id);
  fresh->numbered_from = NumberedFrom(key.id);
  if (newest == nullptr) {
    options_.pod_names->Retain(key.id);
    names_taken_.push_back(key.id);
  } else if (newest->key == key) {
    fresh->older = newest->older;
  } else {
    fresh->older = std::make_shared<const MemberState>(*newest);
  }
  fresh->owner = owner_;
  MemberState* const made = fresh.get();
  state_.members.Set(key.id, std::move(fresh), owner_);
  return made;
}

// What makes the numbers of a pod's moves grow from those of its predecessors under the name.
uint32_t GroupChange::NumberedFrom(PodId pod) const {
  if (options_.observers.empty()) return 0;
  const auto first = static_cast<uint32_t>(owner_);
  const uint32_t last = resources_.LastNumberOf(pod);
  return LaterNumber(first, last) == last ? last + 1 - first : 0;
}

void GroupChange::ReleaseIfGone(const PodKey& key) {
  const MemberState* const gone = Find(key);
  if (gone->live || gone->stands != Place::kAbsent || gone->flight != nullptr) return;
  const std::shared_ptr<const MemberState> older = gone->older;
  const MemberState* const newest = state_.members.Get(key.id);
  if (newest != gone) {
    const MemberState* above = newest;
    while (!(above->older->key == key)) above = above->older.get();
    Edit(above->key)->older = older;
    return;
  }
  if (older == nullptr) names_freed_.push_back(key.id);
  state_.members.Set(key.id, older, owner_);
}

// Effects.

PodMove GroupChange::MoveOf(const MemberState& member) const {
  return {.pod = member.key, .number = static_cast<uint32_t>(owner_) + member.numbered_from};
}

void GroupChange::CountRejectors(const QueueingFields& fields, int64_t amount) {
  fields.Rejectors().ForEach([&](PluginId plugin) {
    effects_.rejected.push_back({plugin, amount});
  });
}

void GroupChange::TellMoved(const MemberState& member, Place from, Place to, EventLabel label) {
  if (options_.observers.empty()) return;
  effects_.told.push_back({.what = Told::What::kMoved,
                           .pod = member.pod,
                           .move = MoveOf(member),
                           .from = from,
                           .to = to,
                           .label = label});
}

// Operations.

bool GroupChange::Add(const PodRef& pod, const PodKey& key) {
  const MemberState* const newest = state_.members.Get(key.id);
  // Another uid for a name that is still live, or another group, which may not change: the old pod
  // is gone.
  const bool is_replaced = newest != nullptr && newest->live &&
                           (!(newest->key == key) || newest->pod->group_name != pod->group_name);
  if (is_replaced) Delete(PodKey(newest->key));
  const MemberState* const known = Find(key);
  if (known != nullptr && known->live && known->stands != Place::kAbsent) {
    return UpdateQueued(key, PodRef(known->pod), pod);
  }
  const Place from =
      known != nullptr && known->flight != nullptr ? Place::kInFlight : Place::kAbsent;
  MemberState* const member = MakeNewest(pod, key);
  member->pod = pod;
  member->live = true;
  member->fields = QueueingFields();
  member->fields.timestamp = Now();
  if (!SetNomination(member, pod->nominated_node_name)) return false;
  Join(key, from);
  return true;
}

bool GroupChange::SetNomination(MemberState* member, std::string_view node) {
  const std::optional<Nomination> nomination = resources_.BeginNomination(member->key.id, node);
  if (!nomination) {
    is_refused_ = true;
    return false;
  }
  nominations_begun_.push_back({member->key.id, *nomination});
  nominations_ended_.push_back({member->key.id, std::exchange(member->nomination, *nomination)});
  return true;
}

bool GroupChange::ReplacePod(const PodKey& key, const PodRef& after) {
  Edit(key)->pod = after;
  return true;
}

bool GroupChange::UpdateQueued(const PodKey& key, const PodRef& before, const PodRef& after) {
  MemberState* const member = Edit(key);
  member->pod = after;
  if (!before->nominated_node_name.empty() || !after->nominated_node_name.empty()) {
    if (!SetNomination(member, after->nominated_node_name)) return false;
  }
  if (PlaceIn(state_, *member) != Place::kGated) return true;
  const GroupId id = member->root;
  const ObjectChange change = TargetPodChange(before, after);
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    const Verdict verdict = Judge(*state_.roots.Get(id), event, change);
    if (verdict == Verdict::kSkip) continue;
    RootState* const root = EditRoot(id);
    Requeue(root, verdict, event.label);
    TellAllMoved(*root, Place::kGated, event.label);
    if (root->place != Place::kGated) break;
  }
  return true;
}

bool GroupChange::Delete(const PodKey& key) {
  const MemberState* const known = Find(key);
  if (known == nullptr) return false;
  const bool was_live = known->live;
  if (known->stands != Place::kAbsent) CountRejectors(known->fields, -1);
  MemberState* const member = Edit(key);
  member->live = false;
  nominations_ended_.push_back({key.id, std::exchange(member->nomination, {})});
  if (was_live) Leave(key);
  if (was_live && !options_.observers.empty()) {
    effects_.told.push_back(
        {.what = Told::What::kDeleted, .pod = Find(key)->pod, .move = MoveOf(*Find(key))});
  }
  ReleaseIfGone(key);
  return true;
}

void GroupChange::EndFlight(MemberState* member) {
  if (member->flight == nullptr) return;
  flights_ended_.push_back(member->flight->position);
  member->flight = nullptr;
  --state_.counts.in_flight;
  --effects_.in_flight;
}

bool GroupChange::Bind(const PodKey& key) {
  const MemberState* const known = Find(key);
  if (known == nullptr) return false;
  if (known->live && known->fields.was_flushed) ++effects_.scheduled_after_flush;
  if (known->flight != nullptr) {
    const bool is_queued = known->stands != Place::kAbsent;
    MemberState* const member = Edit(key);
    EndFlight(member);
    if (!is_queued) TellMoved(*member, Place::kInFlight, Place::kAbsent, kNoLabel);
  }
  return Delete(key);
}

bool GroupChange::Done(const PodKey& key) {
  const MemberState* const known = Find(key);
  if (known == nullptr || known->flight == nullptr) return false;
  EndFlight(Edit(key));
  ReleaseIfGone(key);
  return true;
}

bool GroupChange::Fail(const PodKey& key, PluginSet unschedulable, PluginSet pending) {
  const MemberState* const known = Find(key);
  if (known == nullptr) return false;
  const bool returns = known->live && known->stands == Place::kAbsent;
  if (!returns && known->flight == nullptr) return false;
  MemberState* const member = Edit(key);
  const Place from = member->flight != nullptr ? Place::kInFlight : Place::kAbsent;
  if (returns) {
    QueueingFields& fields = member->fields;
    if (member->flight != nullptr) fields = member->flight->fields;
    fields.unschedulable_plugins = unschedulable;
    fields.pending_plugins = pending;
    fields.gating_plugin = kNoPlugin;
    fields.timestamp = Now();
    fields.was_flushed = false;
    CountRejectors(fields, 1);
  }
  EndFlight(member);
  if (returns) Join(key, from);
  ReleaseIfGone(key);
  return true;
}

bool GroupChange::Activate(const PodKey& key) {
  const MemberState* const member = Find(key);
  if (member == nullptr) return false;
  // Its entity, also where it is not in it.
  const std::optional<GroupId> id = RootOf(*member->pod);
  const RootState* const known = id ? state_.roots.Get(*id) : nullptr;
  if (known == nullptr || known->place == Place::kActive || known->place == Place::kAbsent) {
    return false;
  }
  const Place from = known->place;
  RootState* const root = EditRoot(*id);
  const EventLabel label = LabelOf(SpecialLabel::kForceActivate);
  const bool skips = InBackoff(from) && options_.gates.PopFromBackoffQ();
  if (InBackoff(from)) TakeOut(root);
  MoveToActive(root, label, skips);
  TellAllMoved(*root, from, label);
  return true;
}

bool GroupChange::Nominate(const PodKey& key, std::string_view node) {
  const MemberState* const member = Find(key);
  if (member == nullptr || !member->live) return false;
  return SetNomination(Edit(key), node);
}

bool GroupChange::EndAllFlights() {
  std::vector<PodKey> flying;
  state_.members.ForEach([&](uint32_t, const MemberState& newest) {
    for (const MemberState* member = &newest; member != nullptr; member = member->older.get()) {
      if (member->flight != nullptr) flying.push_back(member->key);
    }
  });
  for (const PodKey& key : flying) Done(key);
  return !flying.empty();
}

// Places.

// The member, which is in no queue, comes from `from`.
void GroupChange::Join(const PodKey& key, Place from) {
  MemberState* const member = Edit(key);
  const EventLabel label = UnscheduledPodAddLabel();
  const std::optional<GroupId> id = RootOf(*member->pod);
  const RootState* const known = id ? state_.roots.Get(*id) : nullptr;
  if (!id) {
    WaitIncomplete(member);
  } else if (known == nullptr) {
    RootState* const root = StartRoot(*id, member);
    member->stands = Place::kActive;
    member->root = *id;
    MoveToActive(root, label, /*skip_pre_enqueue=*/false);
  } else if (known->place == Place::kAbsent) {
    WaitPending(EditRoot(*id), member);
  } else {
    RootState* const root = EditRoot(*id);
    const Place place = TakeOut(root);
    EnterRoot(member, root);
    member->stands = Place::kActive;
    member->root = *id;
    RequeueRest(root, place, label, key.id);
  }
  const MemberState& joined = *Find(key);
  TellMoved(joined, from, PlaceIn(state_, joined), label);
}

void GroupChange::Enlist(MemberState* member, MemberList* list) {
  member->position = list->size();
  list->Add(member->key.id, owner_);
}

// Among those that stand in its queue.
void GroupChange::EnterRoot(MemberState* member, RootState* root) {
  Enlist(member, &root->members);
  if (member->fields.Rejectors().empty()) ++root->unrejected;
}

// The last one of the list takes its place there.
void GroupChange::Delist(const MemberState& member, MemberList* list) {
  const uint32_t position = member.position;
  SCHEDQ_CHECK((*list)[position] == member.key.id, "a member stands at its position");
  list->RemoveAt(position, owner_);
  if (position < list->size()) Edit(PodKey(Newest((*list)[position]).key))->position = position;
}

void GroupChange::WaitIncomplete(MemberState* member) {
  const Pod& pod = *member->pod;
  member->stands = Place::kIncomplete;
  member->root = EnsureObject({GroupKind::kPodGroup, pod.namespace_name, pod.group_name});
  Enlist(member, &EditObject(member->root)->incomplete);
  ++state_.counts.incomplete;
}

void GroupChange::WaitPending(RootState* root, MemberState* member) {
  member->stands = Place::kPending;
  member->root = root->id;
  Enlist(member, &root->pending);
  ++state_.counts.pending;
}

// The member is deleted, or bound. One that is not in its root's queue makes the others be asked
// too.
void GroupChange::Leave(const PodKey& key) {
  MemberState* const member = Edit(key);
  const Place from = PlaceIn(state_, *member);
  const Place stood = std::exchange(member->stands, Place::kAbsent);
  const Pod& pod = *member->pod;
  if (stood == Place::kIncomplete) {
    Delist(*member, &EditObject(member->root)->incomplete);
    DropIfUnneeded(member->root);
    --state_.counts.incomplete;
  } else if (stood == Place::kPending) {
    Delist(*member, &EditRoot(member->root)->pending);
    --state_.counts.pending;
  } else if (const std::optional<GroupId> id =
                 stood == Place::kActive ? std::optional(member->root) : RootOf(pod)) {
    const RootState* const known = state_.roots.Get(*id);
    if (known != nullptr && known->place != Place::kAbsent) {
      RootState* const root = EditRoot(*id);
      const Place place = TakeOut(root);
      if (stood == Place::kActive) {
        Delist(*member, &root->members);
        if (member->fields.Rejectors().empty()) --root->unrejected;
      }
      RequeueRest(root, place, UnscheduledPodAddLabel());
    }
  }
  const MemberState& left = *Find(key);
  const Place to = left.flight != nullptr ? Place::kInFlight : Place::kAbsent;
  if (from != Place::kAbsent) TellMoved(left, from, to, kNoLabel);
}

}  // namespace schedq
