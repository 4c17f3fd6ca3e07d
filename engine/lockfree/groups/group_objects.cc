// Group objects: the tree that they make, and how they come and go.
#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/base/result.h"
#include "engine/lockfree/groups/group_change.h"

namespace schedq {
namespace {

// A composite and a group of one name are two things.
std::string NamespaceOf(const GroupKey& key) {
  return (key.kind == GroupKind::kComposite ? "composite:" : "group:") + key.namespace_name;
}

GroupKey ParentOf(const PodGroup& group) {
  return {GroupKind::kComposite, group.key.namespace_name, group.parent};
}

GroupKey GroupOf(const Pod& member) {
  return {GroupKind::kPodGroup, member.namespace_name, member.group_name};
}

}  // namespace

// Its entry, known as an object or not. Where the state from which this change began has been
// replaced, names of it may be gone: then nothing is found, and nothing will be published.
std::optional<GroupId> GroupChange::FindGroup(const GroupKey& key) const {
  const std::optional<uint32_t> id = group_names_.Find(NamespaceOf(key), key.name);
  if (!id) return std::nullopt;
  // Without a reference the number may mean another name by now.
  const GroupObject* const object = state_.objects.Get(*id);
  return object != nullptr && object->key == key ? id : std::nullopt;
}

GroupObject* GroupChange::EditObject(GroupId group) {
  const GroupObject* const known = state_.objects.Get(group);
  if (known->owner == owner_) return const_cast<GroupObject*>(known);
  auto fresh = std::make_shared<GroupObject>(*known);
  fresh->owner = owner_;
  GroupObject* const made = fresh.get();
  state_.objects.Set(group, std::move(fresh), owner_);
  return made;
}

GroupId GroupChange::EnsureObject(const GroupKey& key) {
  if (const std::optional<GroupId> id = FindGroup(key)) return *id;
  const GroupId id = TakeName(key);
  auto fresh = std::make_shared<GroupObject>();
  fresh->owner = owner_;
  fresh->key = key;
  state_.objects.Set(id, std::move(fresh), owner_);
  return id;
}

// A reference for a record that the next version has. By its text: where the earlier version has
// been replaced since, its number may mean another name by now, and nothing will be published.
GroupId GroupChange::TakeName(const GroupKey& key) {
  const GroupId id = group_names_.Acquire(NamespaceOf(key), key.name);
  SCHEDQ_CHECK(id != kNoName, "there is room for the names of groups");
  groups_taken_.push_back(id);
  return id;
}

void GroupChange::DropIfUnneeded(GroupId group) {
  if (state_.objects.Get(group)->IsNeeded()) return;
  groups_freed_.push_back(group);
  state_.objects.Set(group, nullptr, owner_);
}

// The object without a parent that is reached from `key`, where each on the way is known.
std::optional<GroupId> GroupChange::RootOfGroup(const GroupKey& key) const {
  std::optional<GroupId> id = FindGroup(key);
  // Goes every second step: a walk that goes round in a circle meets it.
  std::optional<GroupId> slow = id;
  for (bool is_second = false; id; is_second = !is_second) {
    const PodGroupRef& object = state_.objects.Get(*id)->object;
    if (object == nullptr) return std::nullopt;
    if (!options_.gates.CompositePodGroup() || object->parent.empty()) return id;
    id = FindGroup(ParentOf(*object));
    if (is_second) slow = FindGroup(ParentOf(*state_.objects.Get(*slow)->object));
    if (!slow) return std::nullopt;
    if (id == slow) return std::nullopt;
  }
  return id;
}

std::optional<GroupId> GroupChange::RootOf(const Pod& member) const {
  return RootOfGroup(GroupOf(member));
}

// The groups of pods at and below `root`: breadth first, children by name.
std::vector<GroupId> GroupChange::GroupsBelow(GroupId root) const {
  std::vector<GroupId> groups;
  std::vector<GroupId> level = {root};
  while (!level.empty()) {
    std::vector<GroupId> next;
    for (const GroupId each : level) {
      const GroupObject& object = *state_.objects.Get(each);
      if (object.key.kind == GroupKind::kPodGroup) groups.push_back(each);
      next.insert(next.end(), object.children.begin(), object.children.end());
    }
    level = std::move(next);
  }
  return groups;
}

void GroupChange::HangOn(const PodGroup& group, GroupId id) {
  if (!options_.gates.CompositePodGroup() || group.parent.empty()) return;
  std::vector<GroupId>& siblings = EditObject(EnsureObject(ParentOf(group)))->children;
  const auto is_before = [&](GroupId a, GroupId b) {
    return state_.objects.Get(a)->key < state_.objects.Get(b)->key;
  };
  siblings.insert(std::lower_bound(siblings.begin(), siblings.end(), id, is_before), id);
}

void GroupChange::TakeOff(const PodGroup& group, GroupId id) {
  const std::optional<GroupId> parent = FindGroup(ParentOf(group));
  if (!parent) return;
  std::erase(EditObject(*parent)->children, id);
  DropIfUnneeded(*parent);
}

// It may not change; two versions apart it was another object.
bool GroupChange::HasOtherParent(GroupId id, const PodGroup& group) const {
  const PodGroupRef& known = state_.objects.Get(id)->object;
  return known != nullptr && known->parent != group.parent;
}

bool GroupChange::AddGroup(const PodGroupRef& group) {
  const GroupKey& key = group->key;
  const GroupId id = EnsureObject(key);
  if (HasOtherParent(id, *group)) {
    DeleteGroup(key);
    return AddGroup(group);
  }
  const PodGroupRef before = std::exchange(EditObject(id)->object, group);
  if (before == nullptr) HangOn(*group, id);
  const std::optional<GroupId> root = RootOfGroup(key);
  if (!root) return true;
  for (const GroupId below : GroupsBelow(*root)) {
    if (state_.objects.Get(below)->incomplete.empty()) continue;
    const MemberList list = std::exchange(EditObject(below)->incomplete, {});
    std::vector<PodId> waiting(list.begin(), list.end());
    std::sort(waiting.begin(), waiting.end(), [&](PodId a, PodId b) {
      const MemberState& first = Newest(a);
      const MemberState& second = Newest(b);
      return std::tie(first.fields.timestamp, first.pod->name) <
             std::tie(second.fields.timestamp, second.pod->name);
    });
    for (const PodId pod : waiting) {
      const PodKey of_pod = Newest(pod).key;
      Edit(of_pod)->stands = Place::kAbsent;
      --state_.counts.incomplete;
      Join(of_pod, Place::kIncomplete);
    }
  }
  return true;
}

bool GroupChange::UpdateGroup(const PodGroupRef& group) {
  const std::optional<GroupId> id = FindGroup(group->key);
  if (!id || state_.objects.Get(*id)->object == nullptr) return false;
  if (HasOtherParent(*id, *group)) return AddGroup(group);
  EditObject(*id)->object = group;
  return true;
}

bool GroupChange::DeleteGroup(const GroupKey& key) {
  const std::optional<GroupId> id = FindGroup(key);
  if (!id || state_.objects.Get(*id)->object == nullptr) return false;
  const std::optional<GroupId> root_id = RootOfGroup(key);
  const PodGroupRef gone = std::exchange(EditObject(*id)->object, nullptr);
  TakeOff(*gone, *id);
  DropIfUnneeded(*id);
  if (!root_id || state_.roots.Get(*root_id) == nullptr) return true;

  RootState* const root = EditRoot(*root_id);
  const bool is_queued = root->place != Place::kAbsent;
  const Place from = is_queued ? TakeOut(root) : Place::kPending;
  MemberList* const list = is_queued ? &root->members : &root->pending;
  if (is_queued) root->unrejected = 0;
  std::vector<PodId> without_root;
  for (const PodId pod : std::exchange(*list, {})) {
    if (RootOf(*Newest(pod).pod)) {
      MemberState* const member = Edit(PodKey(Newest(pod).key));
      is_queued ? EnterRoot(member, root) : Enlist(member, list);
    } else {
      without_root.push_back(pod);
    }
  }
  const EventLabel label = UnscheduledPodUpdateLabel();
  for (const PodId pod : without_root) {
    if (!is_queued) --state_.counts.pending;
    MemberState* const member = Edit(PodKey(Newest(pod).key));
    WaitIncomplete(member);
    TellMoved(*member, from, Place::kIncomplete, label);
  }
  if (is_queued) RequeueRest(root, from, label);
  return true;
}

bool GroupChange::GroupDone(const GroupKey& key, GroupStatus status) {
  // The object may be gone, but the entity keeps the name.
  const std::optional<uint32_t> id = group_names_.Find(NamespaceOf(key), key.name);
  const RootState* const known = id ? state_.roots.Get(*id) : nullptr;
  if (known == nullptr || !(known->key == key) || known->place != Place::kAbsent) return false;
  RootState* const root = EditRoot(*id);
  root->members = std::exchange(root->pending, {});
  state_.counts.pending -= root->members.size();
  for (const PodId pod : root->members) {
    MemberState* const member = Edit(PodKey(Newest(pod).key));
    member->stands = Place::kActive;
    if (member->fields.Rejectors().empty()) ++root->unrejected;
  }
  if (root->members.empty()) {
    Forget(*root);
  } else {
    Return(root, status);
  }
  return true;
}

}  // namespace schedq
