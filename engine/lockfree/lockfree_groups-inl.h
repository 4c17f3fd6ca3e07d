// Groups: their state is one pointer, and an operation on it is one exchange (group_state.h).
//
// What an exchange owes others stands in the state itself: tickets to be published, and gated
// groups that an event may have overtaken. Who meets that in a state finishes it before its own
// operation, so what has returned has taken effect, whoever is stopped. Metrics and observers are
// told by the thread that made the change, as with pods.
#pragma once

#include <folly/concurrency/AtomicSharedPtr.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/names/held_name.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/groups/asked_of_group.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_events.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "engine/refusal.h"
#include "engine/told.h"

namespace schedq {

template <template <typename> class Atom, typename Shape>
class BasicLockfreeQueue<Atom, Shape>::GroupPorts final : public GroupResources {
 public:
  explicit GroupPorts(BasicLockfreeQueue* queue) : queue_(*queue) {}
  FlightPosition BeginFlight() override { return queue_.log_.Begin(); }
  void EndFlight(FlightPosition flight) override { queue_.log_.End(flight); }
  std::optional<Nomination> BeginNomination(PodId pod, std::string_view node) override {
    return queue_.nominations_.Begin(pod, node);
  }
  void EndNomination(PodId pod, const Nomination& nomination) override {
    queue_.nominations_.End(pod, nomination);
  }
  uint64_t EventEpoch() const override { return queue_.event_epoch_.load(); }

 private:
  BasicLockfreeQueue& queue_;
};

// There only where the gate is on.
template <template <typename> class Atom, typename Shape>
struct BasicLockfreeQueue<Atom, Shape>::Groups {
  explicit Groups(BasicLockfreeQueue* queue) : ports(queue) {}

  GroupPorts ports;
  Interner names{4};
  folly::atomic_shared_ptr<const GroupState, Atom> state{std::make_shared<const GroupState>()};
};

template <template <typename> class Atom, typename Shape>
std::shared_ptr<const GroupState> BasicLockfreeQueue<Atom, Shape>::StateWith(
    const PodKey& key) const {
  std::shared_ptr<const GroupState> state = groups_->state.load();
  if (GroupChange::FindIn(*state, key) == nullptr) return nullptr;
  return state;
}

// `operate(GroupChange*)` says whether there is something to change. A retry means that another
// thread has changed the groups.
template <template <typename> class Atom, typename Shape>
template <typename Operate>
bool BasicLockfreeQueue<Atom, Shape>::ChangeGroups(Operate operate) {
  FinishLeft();
  FinishForOthers();
  for (;;) {
    GroupChange change(options_, &groups_->ports, &groups_->names, groups_->state.load());
    if (!operate(&change) || change.is_refused()) {
      // What the answer says has to be true for others too.
      if (!change.from()->owed.empty()) FinishForOthers();
      return false;
    }
    if (!Publish(&change)) continue;
    try {
      Apply(change.effects());
    } catch (...) {
      // An observer. The operation has taken effect, and who sleeps in a pop is to be woken.
      FinishOwed();
      throw;
    }
    FinishOwed();
    return true;
  }
}

// What an operation learns from the state has to be true for whoever pops: a member that is in
// active already can be popped once Fail or Activate have said so.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FinishForOthers() {
  FinishOwed();
}

// Sequentially consistent, as the exchange of a pod's slot is: an event that is counted after it
// finds what it made true.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::Publish(GroupChange* change) {
  std::shared_ptr<const GroupState> expected = change->from();
  if (!groups_->state.compare_exchange_strong(expected, change->TakeNext())) return false;
  change->Published();
  return true;
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::Apply(const GroupEffects& effects) const {
  for (const auto& [place, label, pods, counts_entity] : effects.incoming) {
    metrics_.AddIncoming(place, label, pods);
    if (counts_entity) metrics_.AddIncomingEntity(place, label, EntityType::kPodGroup);
  }
  for (const auto& [plugin, amount] : effects.rejected) metrics_.AddRejected(plugin, amount);
  if (effects.in_flight != 0) {
    metrics_.AddInFlight(LabelOf(SpecialLabel::kPodPopped), effects.in_flight);
  }
  for (uint64_t i = 0; i < effects.scheduled_after_flush; ++i) metrics_.AddScheduledAfterFlush();
  if (!effects.told.empty()) TellAll(effects.told, *options_.pre_enqueue, options_.observers);
}

// Returns whether there was something to finish. Each round ends one debt, unless another thread
// has changed the groups.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::FinishOwed() {
  for (bool was_owed = false;; was_owed = true) {
    const std::shared_ptr<const GroupState> state = groups_->state.load();
    if (state->owed.empty()) return was_owed;
    FinishOwed(state, state->owed.front());
  }
}

// As IsOvertaken of a pod.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::IsGroupOvertaken(const RootState& root) const {
  return last_event_of_[root.fields.gating_plugin].load() > root.epoch;
}

// A ticket that stands twice counts once. A gated group is asked about once more if an event that
// its gating plugin registered for began after PreEnqueue was asked: that event may have looked at
// the pool before the group was in it. Events that begin from here on find it there.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::FinishOwed(const std::shared_ptr<const GroupState>& state,
                                                 const GroupState::Owed& owed) {
  const RootState* const root = state->roots.Get(owed.root);
  GroupChange change(options_, &groups_->ports, &groups_->names, state);
  const bool is_there = root != nullptr && root->version == owed.version;
  const bool is_overtaken = is_there && root->place == Place::kGated && IsGroupOvertaken(*root);
  if (is_overtaken) {
    const EventLabel label = LabelOf(SpecialLabel::kScheduleAttemptFailure);
    try {
      change.RequeueGated(owed.root, owed.version, Verdict::kAfterBackoff, label);
    } catch (...) {
      // A plugin that throws keeps its group gated until the next event, and nobody else's.
      GroupChange settled(options_, &groups_->ports, &groups_->names, state);
      settled.Settle(owed);
      return Publish(&settled);
    }
  } else {
    if (is_there && !InPool(root->place)) {
      const ActiveEntry entry{root->priority, root->fields.timestamp.time_since_epoch().count(),
                              uint64_t{owed.root | kGroupBit} << 32 | owed.version};
      PushTicket(root->place, {entry, root->fields.backoff_expiration});
    }
    change.Settle(owed);
  }
  if (!Publish(&change)) return false;
  Apply(change.effects());
  return true;
}

// What the cluster tells.

template <template <typename> class Atom, typename Shape>
Status BasicLockfreeQueue<Atom, Shape>::AddMember(const PodRef& pod) {
  if (HasNameTooLong(*pod, pod->nominated_node_name)) {
    return Refused("add", *pod, pod->nominated_node_name);
  }
  const PodId id = options_.pod_names->Acquire(pod->namespace_name, pod->name);
  if (id == kNoPod) return Refused("add", *pod, {});
  const HeldName name(options_.pod_names, id);
  const PodKey key{id, UidFingerprint(pod->uid)};
  const auto is_known = [&] {
    const auto state = StateWith(key);
    return state != nullptr && GroupChange::FindIn(*state, key)->live;
  };
  bool is_refused =
      options_.pods_max != 0 && options_.pod_names->size() > options_.pods_max && !is_known();
  if (!is_refused) {
    std::exception_ptr thrown;  // By an observer; what it was told of stands.
    ChangeGroups([&](GroupChange* change) {
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
  return is_refused ? Refused("add", *pod, pod->nominated_node_name) : Status::Ok();
}

// A member takes the place of a pod of its name that was none, whose deletion was not told.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::RemoveSingleNamedAs(PodId id) {
  // A retry means that somebody else changed this very pod.
  for (bool is_done = false; !is_done;) {
    const Pinned pinned = table_.Pin(id);
    if (!pinned || !pinned.word().live) return;
    is_done = RemoveFromCluster(PodKey(pinned.facts().key()));
  }
}

// A pod that is no member takes the place of a member of its name, whose deletion was not told.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::RemoveMemberNamedAs(const Pod& pod) {
  const std::optional<PodId> id = options_.pod_names->Find(pod.namespace_name, pod.name);
  if (!id) return;
  ChangeGroups([&](GroupChange* change) {
    const MemberState* const member = change->from()->members.Get(*id);
    const bool is_there = member != nullptr && member->live && member->pod->name == pod.name &&
                          member->pod->namespace_name == pod.namespace_name;
    return is_there && change->Delete(PodKey(member->key));
  });
}

template <template <typename> class Atom, typename Shape>
Status BasicLockfreeQueue<Atom, Shape>::UpdateMember(const PodRef& before, const PodRef& after) {
  const PodKey key = FindKey(*after);
  enum class Way : uint8_t { kAdd, kQueued, kInFlight, kWithoutRoot } way = Way::kAdd;
  bool is_refused = false;
  PodRef known_before;
  ChangeGroups([&](GroupChange* change) {
    const MemberState* const member = GroupChange::FindIn(*change->from(), key);
    way = Way::kAdd;
    if (member == nullptr || !member->live) return false;
    // It may not change; two versions apart it was another pod.
    if (member->pod->group_name != after->group_name) return change->Delete(key);
    known_before = before != nullptr ? before : member->pod;
    if (member->flight != nullptr) {
      way = change->RootOf(*after) ? Way::kInFlight : Way::kWithoutRoot;
      return change->ReplacePod(key, after);
    }
    if (member->stands == Place::kAbsent) return false;
    way = Way::kQueued;
    const bool is_changed = change->UpdateQueued(key, known_before, after);
    is_refused = change->is_refused();
    return is_changed;
  });
  if (is_refused) return Refused("update", *after, after->nominated_node_name);
  if (way == Way::kAdd) return AddMember(after);
  // The log is shared: others in flight judge these.
  if (way == Way::kInFlight) {
    const ObjectChange change = TargetPodChange(known_before, after);
    for (const ClusterEvent& event : PodUpdateEvents(*known_before, *after)) {
      LogIfAnyInFlight(event, change);
    }
  }
  return Status::Ok();
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::ActivateMember(const PodKey& key, const PodRef&) {
  PodRef in_flight;
  ChangeGroups([&](GroupChange* change) {
    in_flight.reset();
    if (change->Activate(key)) return true;
    const MemberState* const member = GroupChange::FindIn(*change->from(), key);
    if (member == nullptr || member->flight == nullptr) return false;
    if (change->RootOf(*member->pod)) in_flight = member->pod;
    return false;
  });
  if (in_flight != nullptr) {
    LogIfAnyInFlight(ForceActivateEvent(), TargetPodChange(nullptr, in_flight));
  }
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::GroupAdd(PodGroupRef group) {
  if (groups_ == nullptr || HasNameTooLong(*group)) return;
  if (group->key.kind == GroupKind::kComposite && !options_.gates.CompositePodGroup()) return;
  ChangeGroups([&](GroupChange* change) { return change->AddGroup(group); });
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::GroupUpdate(PodGroupRef group) {
  if (groups_ == nullptr) return;
  ChangeGroups([&](GroupChange* change) { return change->UpdateGroup(group); });
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::GroupDelete(const GroupKey& group) {
  if (groups_ == nullptr) return;
  ChangeGroups([&](GroupChange* change) { return change->DeleteGroup(group); });
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::GroupDone(const GroupKey& root, GroupStatus status) {
  if (groups_ == nullptr) return;
  ChangeGroups([&](GroupChange* change) { return change->GroupDone(root, status); });
}

// Attempts.

template <template <typename> class Atom, typename Shape>
Status BasicLockfreeQueue<Atom, Shape>::FailMember(const PodKey& key, PluginSet unschedulable,
                                                   PluginSet pending) {
  Status status;
  ChangeGroups([&](GroupChange* change) {
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

// As a pod: its attempts begin in the log before the instant at which the group goes first.
template <template <typename> class Atom, typename Shape>
Consent BasicLockfreeQueue<Atom, Shape>::Popper::AskGroup(uint64_t ticket) {
  Groups& groups = *queue_.groups_;
  const auto state = groups.state.load();
  const RootState* const root = state->roots.Get(GroupIn(ticket));
  const auto version = static_cast<uint32_t>(ticket);
  if (root == nullptr || root->place != from_ || root->version != version) {
    if (root == nullptr || settled_ == ticket) return Consent::kDrop;
    unsettled_ = ticket;
    return Consent::kLeave;
  }
  group_change_.emplace(queue_.options_, &groups.ports, &groups.names, state);
  group_.reset();
  group_change_->Pop(GroupIn(ticket), version, &group_, &group_fields_);
  return Consent::kTake;
}

template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::Popper::ClaimGroup() {
  return queue_.Publish(&*group_change_);
}

template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::Popper::TellGroup(std::optional<PoppedPod>* popped) {
  std::shared_ptr<PoppedGroup> group = std::exchange(group_, nullptr);
  if (group != nullptr) {
    PoppedPod& entity = popped->emplace();
    entity.cycle = queue_.cycle_.fetch_add(1) + 1;
    entity.fields = group_fields_;
    for (PoppedPod& member : group->members) member.cycle = entity.cycle;
    entity.group = std::move(group);
  }
  try {
    queue_.Apply(group_change_->effects());
  } catch (...) {
    if (popped->has_value()) queue_.GiveBack(*(*popped)->group);
    throw;
  }
  group_change_.reset();
  return popped->has_value();
}

// An observer threw: the pop has no answer, so nobody would end the cycle. It ends as an error.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::GiveBack(const PoppedGroup& group) noexcept {
  const auto though_observers_throw = [](const auto& call) {
    try {
      call();
    } catch (...) {
      // It has taken effect.
    }
  };
  for (const PoppedPod& member : group.members) {
    though_observers_throw([&] { static_cast<void>(FailMember(member.key, {}, {})); });
  }
  though_observers_throw([&] { GroupDone(group.root, GroupStatus::kError); });
}

template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::IsGroupTicketStale(uint64_t ticket) const {
  const auto state = groups_->state.load();
  const RootState* const root = state->roots.Get(GroupIn(ticket));
  return root == nullptr || root->place != Place::kActive ||
         root->version != static_cast<uint32_t>(ticket);
}

// Events and time.

// A pod that was listed stands for its group. A group with a member without rejectors is worth any
// event, so narrowing does not hide it.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::JudgeGroups(const PoolEvent& pool_event,
                                                  const Narrowing& narrowing) {
  const auto state = groups_->state.load();
  const bool is_narrowed = narrowing.plugins_of_all.empty();
  std::vector<ListedMember> listed;
  std::vector<GroupId> roots;
  for (const auto& [pod, asked] : narrowing.pods) {
    const MemberState* const member = state->members.Get(pod);
    if (member == nullptr || member->stands != Place::kActive) continue;
    const RootState& root = *state->roots.Get(member->root);
    if (root.place != Place::kGated) continue;
    listed.push_back({member->root, pod, asked});
    if (is_narrowed && !root.is_lenient) roots.push_back(member->root);
  }
  std::sort(listed.begin(), listed.end());
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  for (const GatedGroups& gated : state->gated) {
    if (!pool_event.event.IsWildcard() && !pool_event.registered.Has(gated.plugin)) continue;
    const auto& unlisted = is_narrowed ? gated.lenient : gated.all;
    unlisted.ForEach([&](GroupId root, const auto&) { roots.push_back(root); });
  }
  JudgedGroups all;
  for (const GroupId id : roots) {
    const RootState& root = *state->roots.Get(id);
    const auto first = std::lower_bound(listed.begin(), listed.end(), ListedMember{id, 0, 0});
    const auto last = std::lower_bound(first, listed.end(), ListedMember{id + 1, 0, 0});
    const AskedOfGroup asked = {narrowing.asked_of_all, {first, last}};
    const size_t from = all.pods.size();
    CollectMembers(*state, root, asked, pool_event, &all.pods);
    if (all.pods.size() > from) all.groups.push_back({&root, asked, from});
  }
  if (all.groups.empty()) return;
  std::vector<Verdict> verdicts(all.pods.size(), Verdict::kSkip);
  options_.judge->Judge(all.pods, pool_event.event, pool_event.change, verdicts);
  for (size_t i = 0; i < all.groups.size(); ++i) {
    const auto begin = verdicts.begin() + static_cast<ptrdiff_t>(all.groups[i].first);
    const auto end = i + 1 < all.groups.size()
                         ? verdicts.begin() + static_cast<ptrdiff_t>(all.groups[i + 1].first)
                         : verdicts.end();
    const Verdict best = *std::max_element(begin, end);
    if (best != Verdict::kSkip) ReactGroup(all.groups[i], best, pool_event);
  }
}

// Adds the members that are to be judged; none: the event does not concern the group.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::CollectMembers(const GroupState& state, const RootState& root,
                                                     const AskedOfGroup& asked,
                                                     const PoolEvent& pool_event,
                                                     std::vector<JudgedPod>* judged) const {
  if (root.place != Place::kGated) return;
  if (!pool_event.event.IsWildcard() && !pool_event.registered.Has(root.fields.gating_plugin)) {
    return;
  }
  bool passes = !pool_event.pre_check;
  for (size_t i = 0; !passes && i < root.members.size(); ++i) {
    passes = pool_event.pre_check(*state.members.Get(root.members[i])->pod);
  }
  if (!passes) return;
  if (root.is_lenient || asked.of_all != 0) {
    for (const PodId id : root.members) {
      const RegistrationMask mask = root.is_lenient ? kEveryRegistration : asked.Of(id);
      judged->push_back(schedq::ToJudge(*state.members.Get(id), mask));
    }
    return;
  }
  for (const auto& [listed_root, id, mask] : asked.listed) {
    const MemberState* const member = state.members.Get(id);
    if (member == nullptr || member->stands != Place::kActive || member->root != root.id) continue;
    judged->push_back(schedq::ToJudge(*member, mask));
  }
}

// `verdict` is that of the group as it was seen.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::ReactGroup(const JudgedGroups::Group& judged, Verdict verdict,
                                                 const PoolEvent& pool_event) {
  const GroupId id = judged.seen->id;
  ChangeGroups([&](GroupChange* change) {
    const GroupState& state = *change->from();
    const RootState* const root = state.roots.Get(id);
    if (root == nullptr) return false;
    Verdict now = verdict;
    if (root != judged.seen) {
      std::vector<JudgedPod> pods;
      CollectMembers(state, *root, judged.asked, pool_event, &pods);
      if (pods.empty()) return false;
      std::vector<Verdict> verdicts(pods.size(), Verdict::kSkip);
      options_.judge->Judge(pods, pool_event.event, pool_event.change, verdicts);
      now = *std::max_element(verdicts.begin(), verdicts.end());
      if (now == Verdict::kSkip) return false;
    }
    return change->RequeueGated(id, root->version, now, pool_event.event.label);
  });
}

// A ticket was met in `place`: see FlushPod.
template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::FlushTicket(uint64_t ticket, Place place, Instant cutoff) {
  if (!IsOfGroup(ticket)) [[likely]] {
    FlushPod(IdIn(ticket), place, cutoff);
    return;
  }
  ChangeGroups([&](GroupChange* change) { return change->Flush(GroupIn(ticket), cutoff); });
}

template <template <typename> class Atom, typename Shape>
std::vector<GroupId> BasicLockfreeQueue<Atom, Shape>::GroupsDueForFlush(Instant now) const {
  std::vector<GroupId> due;
  const auto state = groups_->state.load();
  for (const GatedGroups& gated : state->gated) {
    gated.all.ForEach([&](GroupId id, const auto&) {
      if (IsDueForFlush(state->roots.Get(id)->fields, now)) due.push_back(id);
    });
  }
  return due;
}

// The read side.

template <template <typename> class Atom, typename Shape>
QueueCounts BasicLockfreeQueue<Atom, Shape>::Counts() const {
  QueueCounts counts = counts_.Read();
  if (groups_ == nullptr) return counts;
  const QueueCounts members = groups_->state.load()->counts;
  counts.active += members.active;
  counts.error_backoff += members.error_backoff;
  counts.gated += members.gated;
  counts.in_flight += members.in_flight;
  counts.incomplete = members.incomplete;
  counts.pending = members.pending;
  counts.grouped_active = members.grouped_active;
  counts.grouped_error_backoff = members.grouped_error_backoff;
  counts.grouped_gated = members.grouped_gated;
  return counts;
}

// Whether a member of this name is there; of several incarnations the newest that is somewhere.
template <template <typename> class Atom, typename Shape>
bool BasicLockfreeQueue<Atom, Shape>::WhereIsMember(PodId id, PodWhereabouts* where) const {
  const auto state = groups_->state.load();
  const MemberState* const newest = state->members.Get(id);
  if (newest == nullptr) return false;
  const MemberState* member = newest;
  const auto is_absent = [&] {
    return member->stands == Place::kAbsent && member->flight == nullptr;
  };
  while (is_absent() && member->older != nullptr) member = member->older.get();
  if (is_absent()) member = newest;
  Place place = GroupChange::PlaceIn(*state, *member);
  if (place == Place::kAbsent && member->flight != nullptr) place = Place::kInFlight;
  *where = {place, member->pod, member->live, member->fields};
  if (member->stands == Place::kActive) {
    const QueueingFields& entity = state->roots.Get(member->root)->fields;
    where->fields.backoff_expiration = entity.backoff_expiration;
    where->fields.gating_plugin = entity.gating_plugin;
  }
  return true;
}

template <template <typename> class Atom, typename Shape>
void BasicLockfreeQueue<Atom, Shape>::ListMembers(Place place, std::vector<PodRef>* pods) const {
  const auto state = groups_->state.load();
  state->members.ForEach([&](uint32_t, const MemberState& newest) {
    for (const MemberState* member = &newest; member != nullptr; member = member->older.get()) {
      const Place stands = GroupChange::PlaceIn(*state, *member);
      const bool is_in_flight = member->flight != nullptr;
      bool is_here = stands == place;
      if (place == Place::kInFlight) is_here = is_in_flight;
      if (place == Place::kAbsent) is_here = stands == Place::kAbsent && !is_in_flight;
      if (is_here) pods->push_back(member->pod);
    }
  });
}

}  // namespace schedq
