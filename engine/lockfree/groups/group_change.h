// One operation on groups: from one version of their state to the next.
//
// Purpose: the rules of docs/semantics.md, "Pod groups", written as if there were no other thread.
// The engine publishes the next version if the earlier one still stands, and else makes the change
// anew (group_publisher.h). What cannot be part of the state (metrics, observers, the log's
// positions) is collected and done afterwards.
// Threads: one. Asks PreEnqueue and the judge, which may be called from any thread.
// Invariant: a change that is not published leaves nothing behind: names, attempts in the log and
// nominations that it took are given back when it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/groups/member_list.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"
#include "engine/told.h"

namespace schedq {

// What a change takes from the engine beside the state.
class GroupResources {
 public:
  virtual ~GroupResources() = default;
  virtual FlightPosition BeginFlight() = 0;
  virtual void EndFlight(FlightPosition flight) = 0;
  // Nothing: there is no room for the node's name.
  virtual std::optional<Nomination> BeginNomination(PodId pod, std::string_view node) = 0;
  virtual void EndNomination(PodId pod, const Nomination& nomination) = 0;
  // When an event began that could concern what is asked now; see IsOvertaken.
  virtual uint64_t EventEpoch() const = 0;
  // The number of the last move of a pod of this name that observers were told of.
  virtual uint32_t LastNumberOf(PodId pod) const = 0;
};

// What follows from a change once it is published.
struct GroupEffects {
  struct Incoming {
    Place place;
    EventLabel label;
    uint64_t pods;
    bool counts_entity;
  };

  std::vector<Incoming> incoming;
  std::vector<std::pair<PluginId, int64_t>> rejected;
  int64_t in_flight = 0;
  uint64_t scheduled_after_flush = 0;
  std::vector<Told> told;
};

class GroupChange {
 public:
  // All outlive it. `group_names` has the numbers of groups.
  GroupChange(const QueueOptions& options, GroupResources* resources, Interner* group_names,
              std::shared_ptr<const GroupState> from);
  ~GroupChange();
  GroupChange(const GroupChange&) = delete;
  GroupChange& operator=(const GroupChange&) = delete;

  const std::shared_ptr<const GroupState>& from() const { return from_; }
  // Once, after the operation.
  std::shared_ptr<const GroupState> TakeNext() {
    return std::make_shared<const GroupState>(std::move(state_));
  }
  // The next version stands: gives back what it does not need any more.
  void Published();
  const GroupEffects& effects() const { return effects_; }
  // A nomination found no room: nothing is to be published.
  bool is_refused() const { return is_refused_; }

  // The operations of a queue, of members. False: there is nothing to change.

  // `key.id` is a name to which the caller has a reference.
  bool Add(const PodRef& pod, const PodKey& key);
  // Of a queued member; the judged update of a gated group included.
  bool UpdateQueued(const PodKey& key, const PodRef& before, const PodRef& after);
  // Of one in flight.
  bool ReplacePod(const PodKey& key, const PodRef& after);
  bool Delete(const PodKey& key);
  bool Bind(const PodKey& key);
  bool Done(const PodKey& key);
  bool Fail(const PodKey& key, PluginSet unschedulable, PluginSet pending);
  bool Activate(const PodKey& key);
  bool Nominate(const PodKey& key, std::string_view node);

  bool AddGroup(const PodGroupRef& group);
  bool UpdateGroup(const PodGroupRef& group);
  bool DeleteGroup(const GroupKey& key);
  bool GroupDone(const GroupKey& key, GroupStatus status);

  // Of roots. False: there is none where it is expected.

  // In active by this version. Nothing: no member of it could be popped, and it is taken away.
  bool Pop(GroupId root, uint32_t version, std::shared_ptr<PoppedGroup>* popped,
           QueueingFields* fields);
  // Out of error-backoff, if it is due.
  bool Flush(GroupId root, Instant cutoff);
  // A gated one, which an event made worth another attempt.
  bool RequeueGated(GroupId root, uint32_t version, Verdict verdict, EventLabel label);
  // A gated one that is due for the flush of the unschedulable: marks it, and judges it.
  bool FlushFromPool(GroupId root, Duration max_in_unschedulable);
  // A gated one that an event may have overtaken.
  bool AskAgain(const GroupState::Owed& owed);
  // What was owed to a root has been done.
  void Settle(GroupId root);
  bool EndAllFlights();

  // Of the state before the change.
  static const MemberState* FindIn(const GroupState& state, const PodKey& key);
  static Place PlaceIn(const GroupState& state, const MemberState& member);
  std::optional<GroupId> RootOf(const Pod& member) const;

 private:
  // Records of the next version, made at the first call.
  // The key by value: the record that holds the caller's may be made anew.
  MemberState* Edit(PodKey key);
  RootState* EditRoot(GroupId root);
  GroupObject* EditObject(GroupId group);
  const MemberState* Find(const PodKey& key) const { return FindIn(state_, key); }
  const MemberState& Newest(PodId id) const { return *state_.members.Get(id); }
  void ReleaseIfGone(const PodKey& key);
  MemberState* MakeNewest(const PodRef& pod, const PodKey& key);
  uint32_t NumberedFrom(PodId pod) const;

  // The tree of objects.
  std::optional<GroupId> FindGroup(const GroupKey& key) const;
  GroupId EnsureObject(const GroupKey& key);
  GroupId TakeName(const GroupKey& key);
  void DropIfUnneeded(GroupId group);
  std::optional<GroupId> RootOfGroup(const GroupKey& key) const;
  std::vector<GroupId> GroupsBelow(GroupId root) const;
  bool HasOtherParent(GroupId id, const PodGroup& group) const;
  void HangOn(const PodGroup& group, GroupId id);
  void TakeOff(const PodGroup& group, GroupId id);

  // Places of members.
  void Join(const PodKey& key, Place from);
  void Enlist(MemberState* member, MemberList* list);
  void EnterRoot(MemberState* member, RootState* root);
  void Delist(const MemberState& member, MemberList* list);
  void Leave(const PodKey& key);
  RootState* StartRoot(GroupId root, MemberState* first);
  void Forget(const RootState& root);
  void WaitIncomplete(MemberState* member);
  void WaitPending(RootState* root, MemberState* member);
  void EndFlight(MemberState* member);
  bool SetNomination(MemberState* member, std::string_view node);

  // Places of roots.
  void SetPlace(RootState* root, Place place);
  Place TakeOut(RootState* root);
  void CountIn(Place place, int64_t pods, int64_t groups);
  void Index(const RootState& root, bool is_there);
  // Of the state when it is called; good as long as the change.
  std::vector<const MemberState*> InOrder(const MemberList& list) const;
  bool PassesPreEnqueue(RootState* root);
  PluginId AskPreEnqueue(PodId id);
  bool IsBackingOff(RootState* root) const;
  void MoveToActive(RootState* root, EventLabel label, bool skip_pre_enqueue,
                    Place named = Place::kAbsent);
  void MoveToBackoff(RootState* root, EventLabel label, Place named = Place::kAbsent);
  void PutGated(RootState* root, EventLabel label, Place named);
  void Requeue(RootState* root, Verdict verdict, EventLabel label);
  // `except` tells of its move itself.
  void RequeueRest(RootState* root, Place from, EventLabel label, PodId except = kNoPod);
  void Return(RootState* root, GroupStatus status);
  Verdict Judge(const RootState& root, const ClusterEvent& event, const ObjectChange& change) const;

  // Effects.
  void CountIncoming(const RootState& root, Place place, EventLabel label, Place named);
  void CountRejectors(const QueueingFields& fields, int64_t amount);
  void TellMoved(const MemberState& member, Place from, Place to, EventLabel label);
  void TellAllMoved(const RootState& root, Place from, EventLabel label, PodId except = kNoPod);
  PodMove MoveOf(const MemberState& member) const;
  Instant Now();

  const QueueOptions& options_;
  GroupResources& resources_;
  Interner& group_names_;
  const std::shared_ptr<const GroupState> from_;
  const uint64_t owner_;
  const uint64_t epoch_;
  GroupState state_;
  GroupEffects effects_;
  std::optional<Instant> now_;
  bool is_published_ = false;
  bool is_refused_ = false;

  // Given back if the change is not published, and if it is.
  std::vector<PodId> names_taken_;
  std::vector<PodId> names_freed_;
  std::vector<GroupId> groups_taken_;
  std::vector<GroupId> groups_freed_;
  std::vector<FlightPosition> flights_begun_;
  std::vector<FlightPosition> flights_ended_;
  std::vector<std::pair<PodId, Nomination>> nominations_begun_;
  std::vector<std::pair<PodId, Nomination>> nominations_ended_;
};

}  // namespace schedq
