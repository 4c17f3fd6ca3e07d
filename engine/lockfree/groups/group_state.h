// What the lock-free engine knows of groups and their members: one immutable version after the
// other.
//
// Purpose: a group has many pods, and most operations on one of them move all. So there is no word
// for each pod: one pointer names the whole state, and a thread that exchanges that pointer has
// done the operation, at that instant, for all members (group_publisher.h). The versions share what
// they do not change.
// Threads: a version that was published is never changed; group_change.h makes the next one.
// Memory: a record for each member that is live or in flight, for each root with an entity, for
// each group object that is known, is a parent, or that pods wait for; and the nodes above them. A
// thread that is stopped keeps one version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/event.h"
#include "engine/lockfree/groups/member_list.h"
#include "engine/lockfree/groups/persistent_array.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Numbers of groups, from names of their own.
using GroupId = uint32_t;
inline constexpr GroupId kNoGroup = ~GroupId{0};

// An attempt of a member.
struct MemberFlight {
  FlightPosition position;
  QueueingFields fields;  // As they were popped.
  uint64_t cycle = 0;     // The version of the state that popped it with its group.
};

// One incarnation of a member.
struct MemberState {
  uint64_t owner = 0;  // The version that made this record.
  PodRef pod;
  PodKey key;
  QueueingFields fields;
  bool live = false;
  // kIncomplete, kPending, kActive for any queue (that of its root says which), or kAbsent.
  Place stands = Place::kAbsent;
  GroupId root = kNoGroup;     // Where it is queued or pending; of an incomplete one its own group.
  uint32_t numbered_from = 0;  // Its moves' numbers are the owner's and this, for observers.
  uint32_t position = 0;       // In the list of those that stand where it stands.
  uint64_t cycle = 0;          // As MemberFlight; also after the flight.
  Nomination nomination;
  std::shared_ptr<const MemberFlight> flight;  // Null: not in flight.
  // An older incarnation under the same name that is still in flight.
  std::shared_ptr<const MemberState> older;
};

// As the judge is asked about it.
inline JudgedPod ToJudge(const MemberState& member, RegistrationMask asked) {
  return {.pod = member.pod.get(),
          .id = member.key.id,
          .unschedulable = member.fields.unschedulable_plugins,
          .pending = member.fields.pending_plugins,
          .asked = asked};
}

// The entity of a root.
// Invariant: it is queued and has members, or it is in its cycle.
struct RootState {
  uint64_t owner = 0;
  GroupId id = kNoGroup;
  GroupKey key;
  int32_t priority = 0;          // Of its object, when it came to its place.
  Place place = Place::kAbsent;  // kActive, kErrorBackoff, kGated; kAbsent: in its cycle.
  uint32_t version = 0;          // Of its ticket.
  uint64_t cycle = 0;            // The version of the state that began its last cycle.
  QueueingFields fields;         // Without rejectors.
  // When PreEnqueue was asked: the events that had begun.
  uint64_t epoch = 0;
  uint32_t unrejected = 0;  // Members of `members` without rejectors.
  bool is_lenient = false;  // Gated, with a member without rejectors: any event will do.
  PluginId indexed_by = kNoPlugin;
  MemberList members;
  MemberList pending;
};

// A group object.
struct GroupObject {
  uint64_t owner = 0;
  GroupKey key;
  PodGroupRef object;             // Null: not known; others hang on it.
  std::vector<GroupId> children;  // Known ones, by name.
  MemberList incomplete;          // Pods of this group that wait for their root.
  bool IsNeeded() const { return object != nullptr || !children.empty() || !incomplete.empty(); }
};

// The gated groups by the plugin that gates them.
struct GatedGroups {
  struct Gated {};

  PluginId plugin = kNoPlugin;
  PersistentArray<Gated> all;
  PersistentArray<Gated> lenient;
};

struct GroupState {
  // A root whose ticket is to be published, or that is to be asked about once more.
  struct Owed {
    GroupId root;
    uint32_t version;
    EventLabel label = kNoLabel;  // Of what gated it.
    bool operator==(const Owed&) const = default;
  };

  uint64_t version = 0;
  PersistentArray<MemberState> members;  // By the pod's number: its newest incarnation.
  PersistentArray<RootState> roots;
  PersistentArray<GroupObject> objects;
  std::vector<GatedGroups> gated;
  std::vector<Owed> owed;
  QueueCounts counts;  // Of members.

  // What is owed to a root; null: nothing.
  const Owed* OwedTo(GroupId root) const {
    const auto found =
        std::find_if(owed.begin(), owed.end(), [&](const Owed& each) { return each.root == root; });
    return found == owed.end() ? nullptr : &*found;
  }
};

}  // namespace schedq
