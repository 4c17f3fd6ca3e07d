// Operations on groups and their members: each is one exchange of the groups' state.
//
// Purpose: a member has no slot. An operation makes the next state (group_change.h) and publishes
// it; what cannot be part of a state is done here: names, the log, metrics.
// When not to use it: where the gate GenericWorkload is off; there are no groups then.
// Threads: all operations from any thread, lock-free if PreEnqueue and the judge are.
// Linearization: the exchange of the groups' state.
// Parts: QueueParts.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/names/held_name.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_publisher.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/operations/cluster_operations.h"
#include "engine/lockfree/operations/log_event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_events.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"
#include "engine/refusal.h"

namespace schedq {

template <typename Parts>
class GroupOperations {
 public:
  using Pinned = typename Parts::Pinned;

  GroupOperations(Parts* parts, MoveFinisher<Parts>* finisher, GroupPublisher<Parts>* publisher,
                  ClusterOperations<Parts>* pods)
      : parts_(*parts), finisher_(*finisher), publisher_(*publisher), pods_(*pods) {}
  GroupOperations(const GroupOperations&) = delete;
  GroupOperations& operator=(const GroupOperations&) = delete;

  template <typename Operate>
  bool Change(Operate operate);

  // Of members.
  Status Add(const PodRef& pod);
  Status AddSingle(const PodRef& pod);
  UpdateAnswer Update(const PodRef& before, const PodRef& after);
  void Delete(const Pod& pod) {
    const PodKey key = parts_.FindKey(pod);
    Change([&](GroupChange* change) { return change->Delete(key); });
  }
  void Bind(const PodKey& key) {
    Change([&](GroupChange* change) { return change->Bind(key); });
  }
  void Done(const PodKey& key) {
    Change([&](GroupChange* change) { return change->Done(key); });
  }
  Status Fail(const PodKey& key, PluginSet unschedulable, PluginSet pending);
  void Activate(const Pod& pod);
  Status Nominate(const Pod& pod, std::string_view node);

  // Of groups.
  void GroupAdd(const PodGroupRef& group);
  void GroupUpdate(const PodGroupRef& group);
  void GroupDelete(const GroupKey& group);
  void GroupDone(const GroupKey& root, GroupStatus status);
  // Ends a popped group of which no caller knows, as an error. What throws meanwhile has taken
  // effect.
  [[gnu::cold]] void GiveBack(const PoppedGroup& group) noexcept;
  void EndAllFlights() {
    Change([](GroupChange* change) { return change->EndAllFlights(); });
  }

 private:
  void FinishForOthers();
  void RemoveSingleNamedAs(PodId id);
  Status AddAsked(const PodRef& pod, PodId id, std::exception_ptr* thrown);

  Parts& parts_;
  MoveFinisher<Parts>& finisher_;
  GroupPublisher<Parts>& publisher_;
  ClusterOperations<Parts>& pods_;
};

// `operate(GroupChange*)` says whether there is something to change. A retry means that another
// thread has changed the groups.
template <typename Parts>
template <typename Operate>
bool GroupOperations<Parts>::Change(Operate operate) {
  finisher_.FinishLeft();
  FinishForOthers();
  for (;;) {
    GroupChange change(parts_.options, &parts_.groups->ports, &parts_.groups->names,
                       parts_.groups->state.load());
    if (!operate(&change) || change.is_refused()) {
      // What the answer says has to be true for others too.
      if (!change.from()->owed.empty()) FinishForOthers();
      return false;
    }
    if (!publisher_.Publish(&change)) continue;
    try {
      publisher_.Apply(change.effects());
    } catch (...) {
      // An observer. The operation has taken effect, and a sleeping pop is to be woken.
      publisher_.FinishOwed();
      throw;
    }
    publisher_.FinishOwed();
    return true;
  }
}

// What an operation learns from the state has to be true for every pop: a member that is in active
// already can be popped once Fail or Activate have said so.
template <typename Parts>
void GroupOperations<Parts>::FinishForOthers() {
  publisher_.FinishOwed();
}

template <typename Parts>
Status GroupOperations<Parts>::Add(const PodRef& pod) {
  if (HasNameTooLong(*pod, pod->nominated_node_name)) {
    return Refusal("add", *pod, pod->nominated_node_name, parts_.pods_max);
  }
  const PodId id = parts_.options.pod_names->Acquire(pod->namespace_name, pod->name);
  if (id == kNoPod) return Refusal("add", *pod, {}, parts_.pods_max);
  const HeldName name(parts_.options.pod_names, id);
  const PodKey key{id, UidFingerprint(pod->uid)};
  const auto is_known = [&] {
    const auto state = parts_.groups->StateWith(key);
    return state != nullptr && GroupChange::FindIn(*state, key)->live;
  };
  bool is_refused = parts_.options.pods_max != 0 &&
                    parts_.options.pod_names->size() > parts_.options.pods_max && !is_known();
  if (!is_refused) {
    std::exception_ptr thrown;  // By an observer; what it was told of stands.
    Change([&](GroupChange* change) {
      const bool is_changed = change->Add(pod, key);
      is_refused = change->is_refused();
      // When PreEnqueue has answered: if it throws, nothing has happened.
      try {
        if (is_changed) RemoveSingleNamedAs(id);
      } catch (...) {
        thrown = std::current_exception();
      }
      return is_changed;
    });
    if (thrown != nullptr) std::rethrow_exception(thrown);
  }
  return is_refused ? Refusal("add", *pod, pod->nominated_node_name, parts_.pods_max)
                    : Status::Ok();
}

// A member takes the place of a pod of its name that was none, whose deletion was not told.
template <typename Parts>
void GroupOperations<Parts>::RemoveSingleNamedAs(PodId id) {
  // A retry means that another thread has changed this very pod.
  for (bool is_done = false; !is_done;) {
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned || !pinned.word().live) return;
    is_done = pods_.RemoveFromCluster(PodKey(pinned.facts().key()));
  }
}

// Adds a pod that is no member. It takes the place of a member of its name, whose deletion was not
// told. The rest of the member's group is asked first, and then the pod: if PreEnqueue throws or
// the pod is refused, nothing has happened. If another thread has changed the groups meanwhile, the
// rest is asked once more; if that throws, the pod goes again.
template <typename Parts>
Status GroupOperations<Parts>::AddSingle(const PodRef& pod) {
  const std::optional<PodId> id = parts_.options.pod_names->Find(pod->namespace_name, pod->name);
  if (!id) return pods_.Add(pod);
  std::optional<Status> added;
  std::exception_ptr thrown;  // By an observer; what it was told of stands.
  Change([&](GroupChange* change) {
    const MemberState* const member = change->from()->members.Get(*id);
    const bool is_there = member != nullptr && member->live && member->pod->name == pod->name &&
                          member->pod->namespace_name == pod->namespace_name;
    if (!is_there) return false;
    try {
      change->Delete(PodKey(member->key));
    } catch (...) {
      if (added && added->ok()) pods_.Delete(*pod);
      throw;
    }
    if (!added) added = AddAsked(pod, *id, &thrown);
    return added->ok();
  });
  if (!added) return pods_.Add(pod);
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return *added;
}

// Sets `thrown` to what an observer has thrown; only PreEnqueue's exception leaves this.
template <typename Parts>
Status GroupOperations<Parts>::AddAsked(const PodRef& pod, PodId id, std::exception_ptr* thrown) {
  try {
    return pods_.Add(pod);
  } catch (...) {
    const Pinned pinned = parts_.table.Pin(id);
    const bool is_added = pinned && pinned.word().live &&
                          pinned.facts().key() == PodKey{id, UidFingerprint(pod->uid)};
    if (!is_added) throw;
    *thrown = std::current_exception();
    return Status::Ok();
  }
}

template <typename Parts>
UpdateAnswer GroupOperations<Parts>::Update(const PodRef& before, const PodRef& after) {
  const PodKey key = parts_.FindKey(*after);
  enum class Way : uint8_t { kAdd, kAway, kQueued, kInFlight, kWithoutRoot } way = Way::kAdd;
  bool is_refused = false;
  PodRef known_before;
  Change([&](GroupChange* change) {
    const MemberState* const member = GroupChange::FindIn(*change->from(), key);
    way = Way::kAdd;
    // Its group may not change: two versions apart it was another pod.
    const bool is_known =
        member != nullptr && member->live && member->pod->group_name == after->group_name;
    if (!is_known) return false;
    known_before = before != nullptr ? before : member->pod;
    if (member->flight != nullptr) {
      way = change->RootOf(*after) ? Way::kInFlight : Way::kWithoutRoot;
      return change->ReplacePod(key, after);
    }
    if (member->stands == Place::kAbsent) {
      way = Way::kAway;
      return false;
    }
    way = Way::kQueued;
    const bool is_changed = change->UpdateQueued(key, known_before, after);
    is_refused = change->is_refused();
    return is_changed;
  });
  if (is_refused) {
    return {Refusal("update", *after, after->nominated_node_name, parts_.pods_max)};
  }
  if (way == Way::kAdd || way == Way::kAway) return {std::nullopt, way == Way::kAway};
  // The log is shared: others in flight judge these.
  if (way == Way::kInFlight) {
    const ObjectChange change = TargetPodChange(known_before, after);
    for (const ClusterEvent& event : PodUpdateEvents(*known_before, *after)) {
      LogIfAnyInFlight(&parts_, event, change);
    }
  }
  return {Status::Ok()};
}

template <typename Parts>
void GroupOperations<Parts>::Activate(const Pod& pod) {
  const PodKey key = parts_.FindKey(pod);
  PodRef in_flight;
  Change([&](GroupChange* change) {
    in_flight.reset();
    if (change->Activate(key)) return true;
    const MemberState* const member = GroupChange::FindIn(*change->from(), key);
    if (member == nullptr || member->flight == nullptr) return false;
    if (change->RootOf(*member->pod)) in_flight = member->pod;
    return false;
  });
  if (in_flight != nullptr) {
    LogIfAnyInFlight(&parts_, ForceActivateEvent(), TargetPodChange(nullptr, in_flight));
  }
}

template <typename Parts>
Status GroupOperations<Parts>::Nominate(const Pod& pod, std::string_view node) {
  const PodKey key = parts_.FindKey(pod);
  if (key.id == kNoPod) return Status::Ok();
  bool is_refused = false;
  Change([&](GroupChange* change) {
    const bool is_changed = change->Nominate(key, node);
    is_refused = change->is_refused();
    return is_changed;
  });
  return is_refused ? Refusal("nominate", pod, node, parts_.pods_max) : Status::Ok();
}

template <typename Parts>
Status GroupOperations<Parts>::Fail(const PodKey& key, PluginSet unschedulable, PluginSet pending) {
  Status status;
  Change([&](GroupChange* change) {
    status = Status::Ok();
    const GroupState& state = *change->from();
    const MemberState* const member = GroupChange::FindIn(state, key);
    if (member != nullptr && member->stands != Place::kAbsent) {
      status = Error("fail: pod " + QualifiedName(*member->pod) + " is in a queue already: " +
                     std::string(PlaceName(GroupChange::PlaceIn(state, *member))));
    }
    return change->Fail(key, unschedulable, pending);
  });
  return status;
}

template <typename Parts>
void GroupOperations<Parts>::GroupAdd(const PodGroupRef& group) {
  if (parts_.groups == nullptr || HasNameTooLong(*group)) return;
  if (group->key.kind == GroupKind::kComposite && !parts_.options.gates.CompositePodGroup()) return;
  Change([&](GroupChange* change) { return change->AddGroup(group); });
}

template <typename Parts>
void GroupOperations<Parts>::GroupUpdate(const PodGroupRef& group) {
  if (parts_.groups == nullptr) return;
  Change([&](GroupChange* change) { return change->UpdateGroup(group); });
}

template <typename Parts>
void GroupOperations<Parts>::GroupDelete(const GroupKey& group) {
  if (parts_.groups == nullptr) return;
  Change([&](GroupChange* change) { return change->DeleteGroup(group); });
}

template <typename Parts>
void GroupOperations<Parts>::GiveBack(const PoppedGroup& group) noexcept {
  const auto though_observers_throw = [](const auto& call) {
    try {
      call();
    } catch (...) {
      // It has taken effect.
    }
  };
  for (const PoppedPod& member : group.members) {
    though_observers_throw([&] { static_cast<void>(Fail(member.key, {}, {})); });
  }
  though_observers_throw([&] { GroupDone(group.root, GroupStatus::kError); });
}

template <typename Parts>
void GroupOperations<Parts>::GroupDone(const GroupKey& root, GroupStatus status) {
  if (parts_.groups == nullptr) return;
  Change([&](GroupChange* change) { return change->GroupDone(root, status); });
}

}  // namespace schedq
