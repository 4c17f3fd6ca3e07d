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
#include <vector>

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
#include "engine/told.h"

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
  void SettleName(PodId id);
  // Ends a popped group of which no caller knows, as an error. What throws meanwhile has taken
  // effect.
  [[gnu::cold]] void GiveBack(const PoppedGroup& group) noexcept;
  void EndAllFlights() {
    Change([](GroupChange* change) { return change->EndAllFlights(); });
  }

 private:
  // A change of the groups as they are now.
  void Start(std::optional<GroupChange>* change) {
    change->emplace(parts_.options, &parts_.groups->ports, &parts_.groups->names,
                    parts_.groups->state.load());
  }
  void FinishForOthers(std::exception_ptr* thrown);
  void FinishOwn(const GroupChange& change, std::exception_ptr* thrown);
  void RemoveSingleNamedAs(PodId id);
  void DeleteNamedAs(const Pod& pod, std::optional<GroupChange>* change);

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
  // An observer that another thread's debt is told to does not keep this operation from happening.
  std::exception_ptr thrown;
  FinishForOthers(&thrown);
  for (;;) {
    GroupChange change(parts_.options, &parts_.groups->ports, &parts_.groups->names,
                       parts_.groups->state.load());
    if (!operate(&change) || change.is_refused()) {
      // What the answer says has to be true for others too.
      if (!change.from()->owed.empty()) FinishForOthers(&thrown);
      if (thrown != nullptr) std::rethrow_exception(thrown);
      return false;
    }
    if (!publisher_.Publish(&change)) continue;
    FinishOwn(change, &thrown);
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return true;
  }
}

// What follows from a change that was published, also where an observer throws.
template <typename Parts>
void GroupOperations<Parts>::FinishOwn(const GroupChange& change, std::exception_ptr* thrown) {
  try {
    publisher_.Apply(change.effects());
  } catch (...) {
    *thrown = std::current_exception();
  }
  publisher_.FinishOwed(thrown);
}

// What an operation learns from the state has to be true for every pop: a member that is in active
// already can be popped once Fail or Activate have said so.
template <typename Parts>
void GroupOperations<Parts>::FinishForOthers(std::exception_ptr* thrown) {
  publisher_.FinishOwed(thrown);
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
    if (!is_refused) SettleName(id);
    if (thrown != nullptr) std::rethrow_exception(thrown);
  }
  return is_refused ? Refusal("add", *pod, pod->nominated_node_name, parts_.pods_max)
                    : Status::Ok();
}

// A member takes the place of a pod of its name that was none, whose deletion was not told. If
// another thread has changed the groups meanwhile, and PreEnqueue throws when it is asked once
// more, that pod has gone.
template <typename Parts>
void GroupOperations<Parts>::RemoveSingleNamedAs(PodId id) {
  std::vector<Told> told;
  // A retry means that another thread has changed this very pod.
  for (bool is_done = false; !is_done;) {
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned || !pinned.word().live) return;
    is_done = pods_.RemoveFromCluster(PodKey(pinned.facts().key()), &told);
  }
  pods_.TellRemoved(told);
}

// Adds a pod that is no member. It takes the place of a member of its name, whose deletion was not
// told. The rest of the member's group is asked first, and then the pod: if PreEnqueue throws or
// the pod is refused, nothing has happened. If another thread has changed the groups meanwhile, the
// rest is asked once more; if PreEnqueue throws then, or the pod is refused, the member has gone.
// The name passes in two steps: the member goes, then the pod comes, so that others may find
// neither. That both are there for a moment is said at SettleName.
template <typename Parts>
Status GroupOperations<Parts>::AddSingle(const PodRef& pod) {
  finisher_.FinishLeft();
  std::exception_ptr thrown;  // By an observer; what it was told of stands.
  FinishForOthers(&thrown);
  std::optional<GroupChange> deletion;  // Of the member; nothing: there is none.
  DeleteNamedAs(*pod, &deletion);
  PodId id = kNoPod;
  const auto delete_member = [&](PodId name) {
    id = name;
    // A retry means that another thread has changed the groups.
    while (deletion && !publisher_.Publish(&*deletion)) DeleteNamedAs(*pod, &deletion);
    if (!deletion) return;
    FinishOwn(*deletion, &thrown);
    deletion.reset();
  };
  Status added;
  try {
    added = pods_.Add(PodRef(pod), delete_member);
  } catch (...) {
    if (thrown == nullptr) thrown = std::current_exception();
  }
  if (id != kNoPod) SettleName(id);
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return added;
}

// Makes a change that deletes the live member of the pod's name, and asks the rest of its group.
// There is none: makes no change.
template <typename Parts>
void GroupOperations<Parts>::DeleteNamedAs(const Pod& pod, std::optional<GroupChange>* change) {
  change->reset();
  // Without a reference the number may mean another name by now.
  const std::optional<PodId> id = parts_.options.pod_names->Find(pod.namespace_name, pod.name);
  if (!id) return;
  Start(change);
  const MemberState* const member = (*change)->from()->members.Get(*id);
  const bool is_there = member != nullptr && member->live && member->pod->name == pod.name &&
                        member->pod->namespace_name == pod.namespace_name;
  if (!is_there) return change->reset();
  (*change)->Delete(PodKey(member->key));
}

// One thread brings a member and another one a single pod of its name: each has looked for the
// other's pod before its own came, and found none. Then both look again, here, and at least one
// finds both pods, because each has published its own before it looks. The single pod stays. A pop
// that meets a name of both settles it too, so that no two are popped, whichever thread is stopped
// here. The single pod
// stands in its slot when the groups' state is read that the change begins from, so a member that
// comes later has seen it.
template <typename Parts>
void GroupOperations<Parts>::SettleName(PodId id) {
  const auto is_live = [id](const GroupState& state) {
    const MemberState* const member = state.members.Get(id);
    return member != nullptr && member->live;
  };
  if (!is_live(*parts_.groups->state.load())) return;
  Change([&](GroupChange* change) {
    if (!is_live(*change->from())) return false;
    const Pinned pinned = parts_.table.Pin(id);
    if (!pinned || !pinned.word().live) return false;
    return change->Delete(PodKey(change->from()->members.Get(id)->key));
  });
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
      status = QueuedAlready(*member->pod, GroupChange::PlaceIn(state, *member));
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
