// The operations of BasicGroupIndex, for its instantiation and for tests with another Atom.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/names/interner-inl.h"
#include "hints/groups/group_index.h"

namespace schedq {

template <template <typename> class Atom>
void BasicGroupIndex<Atom>::See(const PodGroup& group) {
  if (group.key.kind != GroupKind::kPodGroup) return;
  const uint32_t number = group_names_.Acquire(group.key.namespace_name, group.key.name);
  if (number == kNoName) return;
  groups_.ReserveThrough(number);
  const auto min_count = static_cast<uint64_t>(std::max<int64_t>(group.min_count, 0));
  // It was known before: the reference that says so is there already.
  if (groups_[number].object.exchange(min_count + 1) != 0) group_names_.Release(number);
}

template <template <typename> class Atom>
void BasicGroupIndex<Atom>::Forget(const GroupKey& group) {
  if (group.kind != GroupKind::kPodGroup) return;
  const std::optional<uint32_t> number =
      group_names_.AcquireKnown(group.namespace_name, group.name);
  if (!number) return;
  Record* const record = groups_.Find(*number);
  // It was known before: two references go, this call's and the one that said so.
  if (record != nullptr && record->object.exchange(0) != 0) group_names_.Release(*number);
  group_names_.Release(*number);
}

template <template <typename> class Atom>
bool BasicGroupIndex<Atom>::Join(const Pod& pod) {
  if (pod.group_name.empty()) return true;
  const uint32_t uid = uids_.Acquire(pod.uid);
  if (uid == kNoName) return false;
  group_of_.ReserveThrough(uid);
  // Read before the group's name is acquired, so that a member that is told of again changes
  // nothing. No other thread writes the cell: it belongs to this pod.
  if (group_of_[uid].load() != 0) {
    uids_.Release(uid);
    return true;
  }
  const uint32_t group = group_names_.Acquire(pod.namespace_name, pod.group_name);
  if (group == kNoName) {
    uids_.Release(uid);
    return false;
  }
  groups_.ReserveThrough(group);
  group_of_[uid].store(group + 1);
  groups_[group].members.fetch_add(1);  // The references to both names are the member's.
  return true;
}

template <template <typename> class Atom>
void BasicGroupIndex<Atom>::Leave(const Pod& pod) {
  if (pod.group_name.empty()) return;
  const std::optional<uint32_t> uid = uids_.AcquireKnown(pod.uid);
  if (!uid) return;
  Atom<uint32_t>* const cell = group_of_.Find(*uid);
  const uint32_t held = cell == nullptr ? 0 : cell->exchange(0);
  if (held != 0) {
    groups_[held - 1].members.fetch_sub(1);
    group_names_.Release(held - 1);
    uids_.Release(*uid);
  }
  uids_.Release(*uid);
}

template <template <typename> class Atom>
GroupFacts BasicGroupIndex<Atom>::Of(std::string_view namespace_name,
                                     std::string_view group) const {
  GroupFacts facts;
  const auto fetch = [this](uint32_t number) { __builtin_prefetch(groups_.Find(number)); };
  const auto read = [&](uint32_t number) {
    const Record* record = groups_.Find(number);
    facts = GroupFacts();
    if (record == nullptr) return;
    const uint64_t object = record->object.load();
    facts.is_known = object != 0;
    facts.min_count = object == 0 ? 0 : static_cast<int64_t>(object - 1);
    facts.members = record->members.load();
  };
  const bool has_name = group_names_.ReadKnown(namespace_name, group, fetch, read);
  return has_name ? facts : GroupFacts();
}

}  // namespace schedq
