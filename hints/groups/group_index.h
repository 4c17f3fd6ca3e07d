// The PodGroup objects that are known, and how many members each group has.
//
// Purpose: it answers what the plugin GangScheduling asks of a group: is its object known, what is
// its minimum count, and how many of its pods were added and not deleted. A pod may name a group
// before the group's object is known, and it stays a member when it is bound.
// When not to use it: for the members themselves, and for composites, which have no minimum count.
// Threads: any. Calls of Join and Leave for one pod, and of See and Forget for one group, must come
// in their order. Of writes nothing and allocates nothing. All operations are lock-free.
//
// Structure: the group's name has a number (interner.h), which names a record: a word for the
// object, and the number of members. A member's uid has a number of its own, which names a cell
// with the number of its group; so a pod is counted once however often it is told of.
//
// Linearization: Join and Leave at the change of the number of members, See and Forget at the
// exchange of the object's word; Of of a known name at the load of each of the two words, of an
// unknown one where the interner says. Of is no snapshot of the two.
//
// Invariants:
//  1. A group's number of members is that of the uids whose cells name it, but for calls of Join
//     and Leave that have not returned.
//  2. Each member, and the object, hold one reference to the group's name; a member holds one to
//     its uid too. So when a number is used for another group, its record says: unknown, no
//     members.
//  3. One thread adds a member and then asks of the group; another sees the object, or adds another
//     member, and then asks. At least one of them is told of both: all accesses to a record are
//     sequentially consistent.
// Memory: a name (interner.h) and 16 bytes a group that is known or has members; a name and 4 bytes
// a member.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/names/interner.h"
#include "engine/base/segmented_array.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {

// What is known of one group.
struct GroupFacts {
  bool is_known = false;
  int64_t min_count = 0;  // 0: not a gang.
  uint32_t members = 0;

  bool HasEnoughMembers() const { return is_known && int64_t{members} >= min_count; }
};

template <template <typename> class Atom>
class BasicGroupIndex {
 public:
  // The first segments hold 2^first_bits groups and members.
  explicit BasicGroupIndex(uint32_t first_bits = 6)
      : group_names_(first_bits), groups_(first_bits), uids_(first_bits), group_of_(first_bits) {}
  BasicGroupIndex(const BasicGroupIndex&) = delete;
  BasicGroupIndex& operator=(const BasicGroupIndex&) = delete;

  // The object of this version is known from now on, or no object of this name is known any more.
  // Composites are passed over. Either may be called again without effect. A group for whose name
  // there is no room (interner.h) is not known.
  void See(const PodGroup& group);
  void Forget(const GroupKey& group);

  // The pod is a member of its group from now on, or no longer; without a group nothing happens.
  // Either may be called again without effect. False: there is no room for its uid or the group's
  // name, and nothing has changed.
  bool Join(const Pod& pod);
  void Leave(const Pod& pod);

  GroupFacts Of(std::string_view namespace_name, std::string_view group) const;

  // The number of groups that are known or have members. May be stale.
  size_t size() const { return group_names_.size(); }

 private:
  struct Record {
    // 0: the object is not known; else its minimum count + 1. Written by See and Forget; a stale
    // reader answers as before them.
    Atom<uint64_t> object;
    // Written by Join and Leave; a stale reader answers as before them.
    Atom<uint32_t> members;
  };

  BasicInterner<Atom> group_names_;
  SegmentedArray<Record, Atom> groups_;  // By the number of the group's name.
  BasicInterner<Atom> uids_;
  // By the number of the uid: the number of its group + 1; 0: it is no member. Written by Join and
  // Leave of this pod.
  SegmentedArray<Atom<uint32_t>, Atom> group_of_;
};

using GroupIndex = BasicGroupIndex<std::atomic>;

extern template class BasicGroupIndex<std::atomic>;

}  // namespace schedq
