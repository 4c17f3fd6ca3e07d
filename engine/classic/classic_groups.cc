// Groups: entities of many pods, under the root that their group objects lead to.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/classic/retreat.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/ports.h"
#include "engine/queueing_fields.h"
#include "engine/refusal.h"

namespace schedq {
namespace {

GroupKey GroupOf(const Pod& member) {
  return {GroupKind::kPodGroup, member.namespace_name, member.group_name};
}

// The verdict that brings an entity back to where it was.
Verdict VerdictFor(Place place) {
  if (InPool(place)) return Verdict::kSkip;
  return InBackoff(place) ? Verdict::kAfterBackoff : Verdict::kImmediately;
}

// Of one group: higher priority, more attempts, older, by name. In a tree group after group.
bool ComesBefore(const PodEntity* a, const PodEntity* b) {
  const auto order = [](const PodEntity& member) {
    return std::tuple(std::string_view(member.pod->group_name), -int64_t{member.pod->priority},
                      -int64_t{member.fields.attempts}, member.fields.timestamp,
                      std::string_view(member.pod->name));
  };
  return order(*a) < order(*b);
}

bool IsOlder(const PodEntity* a, const PodEntity* b) {
  return std::tie(a->fields.timestamp, a->pod->name) < std::tie(b->fields.timestamp, b->pod->name);
}

}  // namespace

std::optional<GroupKey> ClassicQueue::RootOf(const Pod& member) const {
  return tree_.RootOf(GroupOf(member));
}

GroupEntity* ClassicQueue::FindGroup(const GroupKey& root) const {
  const auto found = groups_.find(root);
  return found == groups_.end() ? nullptr : found->second.get();
}

void ClassicQueue::SortMembers(GroupEntity* group) const {
  // Mostly they are, because the member that joined last is the youngest.
  if (!std::is_sorted(group->members.begin(), group->members.end(), ComesBefore)) {
    std::sort(group->members.begin(), group->members.end(), ComesBefore);
  }
}

void ClassicQueue::Forget(const GroupEntity& group) {
  const GroupKey root = group.root;
  groups_.erase(root);
}

// The member, which is in no queue, comes from `from`.
void ClassicQueue::Join(PodEntity& member, Place from) {
  const EventLabel label = UnscheduledPodAddLabel();
  const std::optional<GroupKey> root = RootOf(*member.pod);
  GroupEntity* const group = root ? FindGroup(*root) : nullptr;
  if (!root) {
    WaitIncomplete(member);
  } else if (group == nullptr) {
    StartGroup(*root, member);
  } else if (group->is_in_cycle) {
    WaitPending(*group, member);
  } else {
    Retreat retreat(*this, *group);
    const Place place = TakeOut(*group);
    group->members.push_back(&member);
    member.group = group;
    RequeueRest(*group, place, label, &member);
    retreat.NotNeeded();
  }
  TellPodMoved(member, from, label);
}

void ClassicQueue::StartGroup(const GroupKey& root, PodEntity& first) {
  auto owned = std::make_unique<GroupEntity>();
  GroupEntity& group = *owned;
  group.root = root;
  group.fields.timestamp = first.fields.timestamp;
  group.fields.first_attempt = first.fields.first_attempt;
  group.members.push_back(&first);
  first.group = &group;
  try {
    MoveToActive(group, UnscheduledPodAddLabel(), /*skip_pre_enqueue=*/false);
  } catch (...) {
    first.group = nullptr;
    throw;
  }
  groups_.emplace(root, std::move(owned));
}

void ClassicQueue::WaitIncomplete(PodEntity& member) {
  member.queued = Place::kIncomplete;
  incomplete_[GroupOf(*member.pod)].push_back(&member);
}

void ClassicQueue::WaitPending(GroupEntity& group, PodEntity& member) {
  member.queued = Place::kPending;
  group.pending.push_back(&member);
}

// The member is deleted, or bound. One that is not in its group's queue makes the others be asked
// too.
void ClassicQueue::Leave(PodEntity& member) {
  const Place from = member.Queued();
  const std::optional<GroupKey> root = RootOf(*member.pod);
  GroupEntity* const group = root ? FindGroup(*root) : nullptr;
  if (member.queued == Place::kIncomplete) {
    const auto waiting = incomplete_.find(GroupOf(*member.pod));
    std::erase(waiting->second, &member);
    if (waiting->second.empty()) incomplete_.erase(waiting);
    member.queued = Place::kAbsent;
  } else if (member.queued == Place::kPending) {
    std::erase(group->pending, &member);
    member.queued = Place::kAbsent;
  } else if (group != nullptr && !group->is_in_cycle) {
    Retreat retreat(*this, *group);
    const Place place = TakeOut(*group);
    std::erase(group->members, &member);
    member.group = nullptr;
    RequeueRest(*group, place, UnscheduledPodAddLabel());
    retreat.NotNeeded();
  }
  if (from != Place::kAbsent) TellPodMoved(member, from, kNoLabel);
}

// Returns the place from which the group was taken.
Place ClassicQueue::TakeOut(GroupEntity& group) {
  const Place place = group.queued;
  RemoveFromQueue(group);
  return place;
}

// A group without members is forgotten, with its backoff.
void ClassicQueue::RequeueRest(GroupEntity& group, Place from, EventLabel label,
                               const PodEntity* except) {
  if (group.members.empty()) {
    Forget(group);
    return;
  }
  Requeue(group, VerdictFor(from), label);
  for (const PodEntity* member : group.members) {
    if (member != except) TellPodMoved(*member, from, label);
  }
}

void ClassicQueue::GroupAdd(PodGroupRef group) {
  std::lock_guard lock(mutex_);
  if (!options_.gates.GenericWorkload() || HasNameTooLong(*group)) return;
  AddGroupLocked(std::move(group));
  TellObservers();
}

void ClassicQueue::AddGroupLocked(PodGroupRef group) {
  const GroupKey key = group->key;
  const PodGroup* const known = tree_.Find(key);
  // Its parent may not change; two versions apart it was another object.
  if (known != nullptr && known->parent != group->parent) DeleteGroupLocked(key);
  const PodGroupRef before = tree_.Erase(key);
  if (!tree_.Put(std::move(group))) return;
  const std::optional<GroupKey> root = tree_.RootOf(key);
  if (!root) return;
  try {
    JoinWaiting(*root);
  } catch (...) {
    tree_.Erase(key);
    if (before != nullptr) tree_.Put(before);
    throw;
  }
}

// The incomplete pods of all groups under the root join one by one. If PreEnqueue throws, all of
// them stay incomplete; what else there is under the root stays where it is by then.
void ClassicQueue::JoinWaiting(const GroupKey& root) {
  std::vector<PodEntity*> waiting;
  for (const GroupKey& below : tree_.GroupsBelow(root)) {
    const auto found = incomplete_.find(below);
    if (found == incomplete_.end()) continue;
    std::sort(found->second.begin(), found->second.end(), IsOlder);
    waiting.insert(waiting.end(), found->second.begin(), found->second.end());
    incomplete_.erase(found);
  }
  for (PodEntity* member : waiting) member->queued = Place::kAbsent;
  const size_t told_before = told_.size();
  size_t joined = 0;
  try {
    for (; joined < waiting.size(); ++joined) Join(*waiting[joined], Place::kIncomplete);
  } catch (...) {
    for (size_t i = 0; i < joined; ++i) TakeBack(*waiting[i]);
    for (PodEntity* member : waiting) WaitIncomplete(*member);
    told_.erase(told_.begin() + static_cast<ptrdiff_t>(told_before), told_.end());
    throw;
  }
}

void ClassicQueue::TakeBack(PodEntity& joined) {
  GroupEntity* const group = FindGroup(*RootOf(*joined.pod));
  std::erase(group->is_in_cycle ? group->pending : group->members, &joined);
  joined.group = nullptr;
  joined.queued = Place::kAbsent;
  if (!group->members.empty() || group->is_in_cycle) return;
  RemoveFromQueue(*group);
  Forget(*group);
}

void ClassicQueue::GroupUpdate(PodGroupRef group) {
  std::lock_guard lock(mutex_);
  const PodGroup* const known = tree_.Find(group->key);
  if (known == nullptr) return;
  if (known->parent == group->parent) {
    tree_.Put(std::move(group));
    return;
  }
  AddGroupLocked(std::move(group));
  TellObservers();
}

void ClassicQueue::GroupDelete(const GroupKey& key) {
  std::lock_guard lock(mutex_);
  DeleteGroupLocked(key);
  TellObservers();
}

void ClassicQueue::DeleteGroupLocked(const GroupKey& key) {
  const std::optional<GroupKey> root = tree_.RootOf(key);
  const PodGroupRef gone = tree_.Erase(key);
  GroupEntity* const group = root ? FindGroup(*root) : nullptr;
  if (group == nullptr) return;
  const bool is_queued = !group->is_in_cycle;
  Retreat retreat(*this, *group);
  const Place from = is_queued ? TakeOut(*group) : Place::kPending;
  std::vector<PodEntity*>& pods = is_queued ? group->members : group->pending;
  const auto has_root = [&](const PodEntity* pod) { return RootOf(*pod->pod).has_value(); };
  const auto lost = std::stable_partition(pods.begin(), pods.end(), has_root);
  const std::vector<PodEntity*> without_root(lost, pods.end());
  pods.erase(lost, pods.end());
  const EventLabel label = UnscheduledPodUpdateLabel();
  for (PodEntity* pod : without_root) pod->group = nullptr;
  try {
    if (is_queued) RequeueRest(*group, from, label);
  } catch (...) {
    tree_.Put(gone);
    throw;
  }
  retreat.NotNeeded();
  for (PodEntity* pod : without_root) {
    WaitIncomplete(*pod);
    TellPodMoved(*pod, from, label);
  }
}

void ClassicQueue::GroupDone(const GroupKey& root, GroupStatus status) {
  std::lock_guard lock(mutex_);
  GroupDoneLocked(root, status);
  TellObservers();
}

void ClassicQueue::GroupDoneLocked(const GroupKey& root, GroupStatus status) {
  GroupEntity* const group = FindGroup(root);
  if (group == nullptr || !group->is_in_cycle) return;
  if (group->pending.empty()) {
    Forget(*group);
    return;
  }
  Retreat retreat(*this, *group);
  group->is_in_cycle = false;
  group->members = std::exchange(group->pending, {});
  for (PodEntity* member : group->members) {
    member->queued = Place::kAbsent;
    member->group = group;
  }
  ReturnFromCycle(*group, status);
  retreat.NotNeeded();
}

void ClassicQueue::ReturnFromCycle(GroupEntity& group, GroupStatus status) {
  QueueingFields& fields = group.fields;
  fields.flush_timestamp.reset();
  const EventLabel label = LabelOf(SpecialLabel::kScheduleAttemptFailure);
  const auto was_popped = [&](const PodEntity* pod) { return pod->group_cycle == group.cycle; };
  if (status == GroupStatus::kSuccess) {
    fields.unschedulable_count = 0;
    fields.consecutive_errors = 0;
    if (std::none_of(group.members.begin(), group.members.end(), was_popped)) {
      fields.timestamp = options_.clock->Now();
    }
  } else {
    fields.timestamp = options_.clock->Now();
    fields.backoff_expiration.reset();
    if (status == GroupStatus::kError) {
      ++fields.consecutive_errors;
    } else {
      ++fields.unschedulable_count;
      fields.consecutive_errors = 0;
    }
  }
  if (status != GroupStatus::kSuccess && IsBackingOff(group)) {
    MoveToBackoff(group, label);
  } else {
    MoveToActive(group, label, /*skip_pre_enqueue=*/false);
  }
  TellMoved(group, Place::kPending, label);
}

}  // namespace schedq
