// Roots: how the entity of a group enters and leaves active, error-backoff and the pool.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/base/time/maybe_instant.h"
#include "engine/lockfree/groups/group_change.h"
#include "engine/queueing_fields.h"

namespace schedq {
namespace {

Place PlaceNamedBy(Verdict verdict) {
  if (verdict == Verdict::kSkip) return Place::kUnschedulable;
  return verdict == Verdict::kAfterBackoff ? Place::kBackoff : Place::kActive;
}

// The verdict that brings an entity back to where it was.
Verdict VerdictFor(Place place) {
  if (InPool(place)) return Verdict::kSkip;
  return InBackoff(place) ? Verdict::kAfterBackoff : Verdict::kImmediately;
}

// Of one group: higher priority, more attempts, older, by name. In a tree group after group.
bool ComesBefore(const MemberState& a, const MemberState& b) {
  const auto order = [](const MemberState& member) {
    return std::tuple(std::string_view(member.pod->group_name), -int64_t{member.pod->priority},
                      -int64_t{member.fields.attempts}, member.fields.timestamp,
                      std::string_view(member.pod->name));
  };
  return order(a) < order(b);
}

}  // namespace

RootState* GroupChange::EditRoot(GroupId id) {
  const RootState* const known = state_.roots.Get(id);
  if (known->owner == owner_) return const_cast<RootState*>(known);
  auto fresh = std::make_shared<RootState>(*known);
  fresh->owner = owner_;
  RootState* const made = fresh.get();
  state_.roots.Set(id, std::move(fresh), owner_);
  return made;
}

RootState* GroupChange::StartRoot(GroupId id, MemberState* first) {
  const GroupObject& object = *state_.objects.Get(id);
  TakeName(object.key);
  auto fresh = std::make_shared<RootState>();
  fresh->owner = owner_;
  fresh->id = id;
  fresh->key = object.key;
  fresh->fields.timestamp = first->fields.timestamp;
  fresh->fields.first_attempt = first->fields.first_attempt;
  EnterRoot(first, fresh.get());
  RootState* const made = fresh.get();
  state_.roots.Set(id, std::move(fresh), owner_);
  return made;
}

void GroupChange::Forget(const RootState& root) {
  const GroupId id = root.id;
  groups_freed_.push_back(id);
  state_.roots.Set(id, nullptr, owner_);
}

void GroupChange::CountIn(Place place, int64_t pods, int64_t groups) {
  const auto add = [&](uint64_t* count, GroupCounts* grouped) {
    *count += static_cast<uint64_t>(pods);
    grouped->members += static_cast<uint64_t>(pods);
    grouped->groups += static_cast<uint64_t>(groups);
  };
  QueueCounts& counts = state_.counts;
  if (place == Place::kActive) add(&counts.active, &counts.grouped_active);
  if (place == Place::kErrorBackoff) add(&counts.error_backoff, &counts.grouped_error_backoff);
  if (place == Place::kGated) add(&counts.gated, &counts.grouped_gated);
}

void GroupChange::Index(const RootState& root, bool is_there) {
  const auto of_plugin = [&](const GatedGroups& gated) { return gated.plugin == root.indexed_by; };
  auto found = std::find_if(state_.gated.begin(), state_.gated.end(), of_plugin);
  if (found == state_.gated.end()) {
    state_.gated.push_back({.plugin = root.indexed_by, .all = {}, .lenient = {}});
    found = std::prev(state_.gated.end());
  }
  const auto mark = is_there ? std::make_shared<const GatedGroups::Gated>() : nullptr;
  found->all.Set(root.id, mark, owner_);
  if (root.is_lenient) found->lenient.Set(root.id, mark, owner_);
}

// A place in a queue is owed what makes it found there.
void GroupChange::SetPlace(RootState* root, Place place) {
  const auto members = static_cast<int64_t>(root->members.size());
  CountIn(root->place, -members, -1);
  if (root->place == Place::kGated) Index(*root, false);
  root->place = place;
  CountIn(place, members, 1);
  Settle(root->id);
  if (place == Place::kAbsent) return;
  root->version = static_cast<uint32_t>(owner_);
  root->priority = state_.objects.Get(root->id)->object->priority;
  state_.owed.push_back({root->id, root->version});
  if (place != Place::kGated) return;
  root->indexed_by = root->fields.gating_plugin;
  root->is_lenient = root->unrejected > 0;
  Index(*root, true);
}

Place GroupChange::TakeOut(RootState* root) {
  const Place place = root->place;
  SetPlace(root, Place::kAbsent);
  return place;
}

// The order of members, which the list has not.
std::vector<const MemberState*> GroupChange::InOrder(const MemberList& list) const {
  std::vector<const MemberState*> members;
  members.reserve(list.size());
  for (const PodId id : list) members.push_back(&Newest(id));
  const auto comes_before = [](const MemberState* a, const MemberState* b) {
    return ComesBefore(*a, *b);
  };
  // Mostly it has it, because the member that joined last is the youngest.
  if (!std::is_sorted(members.begin(), members.end(), comes_before)) {
    std::sort(members.begin(), members.end(), comes_before);
  }
  return members;
}

// Asks every member, also after one was rejected. The last rejection is the group's.
bool GroupChange::PassesPreEnqueue(RootState* root) {
  root->epoch = epoch_;
  root->unrejected = 0;
  PluginId last = kNoPlugin;
  for (const MemberState* member : InOrder(root->members)) {
    const PodId id = member->key.id;  // The record may be made anew.
    const PluginId rejected = AskPreEnqueue(id);
    if (rejected != kNoPlugin) last = rejected;
    if (Newest(id).fields.Rejectors().empty()) ++root->unrejected;
  }
  root->fields.gating_plugin = last;
  return last == kNoPlugin;
}

PluginId GroupChange::AskPreEnqueue(PodId id) {
  const MemberState& member = Newest(id);
  const QueueingFields& fields = member.fields;
  const PluginId rejected = options_.pre_enqueue->Check(*member.pod, fields.gating_plugin);
  const bool is_rejected = rejected != kNoPlugin;
  if (!options_.observers.empty()) {
    using What = Told::What;
    effects_.told.push_back({.what = is_rejected ? What::kGated : What::kPassed,
                             .pod = member.pod,
                             .move = MoveOf(member),
                             .plugin = rejected});
  }
  if (is_rejected && !fields.Rejectors().Has(rejected)) effects_.rejected.push_back({rejected, 1});
  const bool is_known = !is_rejected || fields.unschedulable_plugins.Has(rejected);
  if (is_known && fields.gating_plugin == rejected) return rejected;
  QueueingFields& edited = Edit(PodKey(member.key))->fields;
  edited.gating_plugin = rejected;
  if (is_rejected) edited.unschedulable_plugins.Insert(rejected);
  return rejected;
}

bool GroupChange::IsBackingOff(RootState* root) const {
  const bool windows = options_.gates.PopFromBackoffQ();
  const MaybeInstant expiration =
      options_.backoff.OfGroup(root->members.size()).ExpirationOf(&root->fields, windows);
  if (!expiration) return false;
  const Instant now = options_.clock->Now();
  return *expiration >= (windows ? TruncateToSecond(now) : now);
}

// Entities that come to the place that a verdict has named are not counted.
void GroupChange::CountIncoming(const RootState& root, Place place, EventLabel label, Place named) {
  effects_.incoming.push_back({place, label, root.members.size(), place != named});
}

void GroupChange::MoveToActive(RootState* root, EventLabel label, bool skip_pre_enqueue,
                               Place named) {
  if (!skip_pre_enqueue && !PassesPreEnqueue(root)) {
    PutGated(root, label, named);
    return;
  }
  if (!root->fields.first_attempt) root->fields.first_attempt = Now();
  for (const PodId id : root->members) {
    if (!Newest(id).fields.first_attempt) Edit(Newest(id).key)->fields.first_attempt = Now();
  }
  SetPlace(root, Place::kActive);
  CountIncoming(*root, Place::kActive, label, named);
}

void GroupChange::MoveToBackoff(RootState* root, EventLabel label, Place named) {
  if (options_.gates.PopFromBackoffQ() && !PassesPreEnqueue(root)) {
    PutGated(root, label, named);
    return;
  }
  SetPlace(root, Place::kErrorBackoff);
  CountIncoming(*root, Place::kBackoff, label, named);
}

void GroupChange::PutGated(RootState* root, EventLabel label, Place named) {
  for (const PodId id : root->members) {
    if (Newest(id).fields.was_flushed) Edit(PodKey(Newest(id).key))->fields.was_flushed = false;
  }
  const bool was_in_pool = InPool(root->place);
  SetPlace(root, Place::kGated);
  state_.owed.back().label = label;
  if (!was_in_pool) CountIncoming(*root, Place::kUnschedulable, label, named);
}

void GroupChange::Requeue(RootState* root, Verdict verdict, EventLabel label) {
  const Place named = PlaceNamedBy(verdict);
  if (verdict == Verdict::kSkip) {
    // As it was gated: no plugin is asked, and the mark of a flush stays. Events have found it
    // gated and will, so a second look at it is owed only where one was.
    const bool was_in_pool = InPool(root->place);
    SetPlace(root, Place::kGated);
    const GroupState::Owed* const owed = from_->OwedTo(root->id);
    if (owed != nullptr) {
      state_.owed.back().label = owed->label;
    } else {
      Settle(root->id);
    }
    if (!was_in_pool) CountIncoming(*root, Place::kUnschedulable, label, named);
  } else if (verdict == Verdict::kAfterBackoff && IsBackingOff(root)) {
    MoveToBackoff(root, label, named);
  } else {
    MoveToActive(root, label, /*skip_pre_enqueue=*/false, named);
  }
}

// A group without members is forgotten, with its backoff.
void GroupChange::RequeueRest(RootState* root, Place from, EventLabel label, PodId except) {
  if (root->members.empty()) {
    Forget(*root);
    return;
  }
  Requeue(root, VerdictFor(from), label);
  TellAllMoved(*root, from, label, except);
}

void GroupChange::TellAllMoved(const RootState& root, Place from, EventLabel label, PodId except) {
  if (options_.observers.empty()) return;
  for (const MemberState* member : InOrder(root.members)) {
    if (member->key.id != except) TellMoved(*member, from, root.place, label);
  }
}

// From its cycle.
void GroupChange::Return(RootState* root, GroupStatus status) {
  QueueingFields& fields = root->fields;
  fields.flush_timestamp.reset();
  const EventLabel label = LabelOf(SpecialLabel::kScheduleAttemptFailure);
  if (status == GroupStatus::kSuccess) {
    fields.unschedulable_count = 0;
    fields.consecutive_errors = 0;
    const bool has_popped = std::any_of(root->members.begin(), root->members.end(),
                                        [&](PodId id) { return Newest(id).cycle == root->cycle; });
    if (!has_popped) fields.timestamp = Now();
  } else {
    fields.timestamp = Now();
    fields.backoff_expiration.reset();
    if (status == GroupStatus::kError) {
      ++fields.consecutive_errors;
    } else {
      ++fields.unschedulable_count;
      fields.consecutive_errors = 0;
    }
  }
  if (status != GroupStatus::kSuccess && IsBackingOff(root)) {
    MoveToBackoff(root, label);
  } else {
    MoveToActive(root, label, /*skip_pre_enqueue=*/false);
  }
  TellAllMoved(*root, Place::kPending, label);
}

Verdict GroupChange::Judge(const RootState& root, const ClusterEvent& event,
                           const ObjectChange& change) const {
  std::vector<JudgedPod> judged;
  judged.reserve(root.members.size());
  for (const PodId id : root.members) judged.push_back(ToJudge(Newest(id), kEveryRegistration));
  std::vector<Verdict> verdicts(judged.size(), Verdict::kSkip);
  options_.judge->Judge(judged, event, change, verdicts);
  return *std::max_element(verdicts.begin(), verdicts.end());
}

bool GroupChange::Pop(GroupId id, uint32_t version, std::shared_ptr<PoppedGroup>* popped,
                      QueueingFields* entity) {
  const RootState* const known = state_.roots.Get(id);
  if (known == nullptr || known->place != Place::kActive || known->version != version) return false;
  RootState* const root = EditRoot(id);
  const std::vector<const MemberState*> members = InOrder(root->members);
  SetPlace(root, Place::kAbsent);
  root->members = {};
  root->unrejected = 0;
  auto group = std::make_shared<PoppedGroup>();
  group->root = root->key;
  const EventLabel label = LabelOf(SpecialLabel::kPodPopped);
  for (const MemberState* popped_member : members) {
    MemberState* const member = Edit(PodKey(popped_member->key));
    member->stands = Place::kAbsent;
    CountRejectors(member->fields, -1);
    // One that is in flight already is discarded.
    const bool is_taken = member->flight == nullptr;
    if (is_taken) {
      ++member->fields.attempts;
      member->cycle = owner_;
      const FlightPosition position = resources_.BeginFlight();
      flights_begun_.push_back(position);
      member->flight =
          std::make_shared<const MemberFlight>(MemberFlight{position, member->fields, owner_});
      ++state_.counts.in_flight;
      ++effects_.in_flight;
    }
    TellMoved(*member, Place::kActive, Place::kInFlight, label);
    if (!is_taken) continue;
    if (!options_.observers.empty()) {
      effects_.told.push_back({.what = Told::What::kPopped,
                               .pod = member->pod,
                               .move = MoveOf(*member),
                               .attempts = member->fields.attempts});
    }
    group->members.push_back({member->pod, member->key, 0, member->fields});
  }
  if (group->members.empty()) {
    Forget(*root);
    return true;
  }
  root->cycle = owner_;
  ++root->fields.attempts;
  *entity = root->fields;
  *popped = std::move(group);
  return true;
}

bool GroupChange::Flush(GroupId id, Instant cutoff) {
  const RootState* const known = state_.roots.Get(id);
  if (known == nullptr || known->place != Place::kErrorBackoff) return false;
  if (*known->fields.backoff_expiration >= cutoff) return false;
  RootState* const root = EditRoot(id);
  const EventLabel label = LabelOf(SpecialLabel::kBackoffComplete);
  TakeOut(root);
  MoveToActive(root, label, options_.gates.PopFromBackoffQ());
  TellAllMoved(*root, Place::kErrorBackoff, label);
  return true;
}

bool GroupChange::RequeueGated(GroupId id, uint32_t version, Verdict verdict, EventLabel label) {
  const RootState* const known = state_.roots.Get(id);
  if (known == nullptr || known->place != Place::kGated || known->version != version) return false;
  RootState* const root = EditRoot(id);
  TakeOut(root);
  Requeue(root, verdict, label);
  TellAllMoved(*root, Place::kGated, label);
  return true;
}

// PreEnqueue is asked once more whether the group is gated: an event may have looked at the pool
// before it was there. Now it is, and each later event finds it, so a third look is owed only where
// another plugin gates it. A group that stays where it is came there once.
bool GroupChange::AskAgain(const GroupState::Owed& owed) {
  RootState* const root = EditRoot(owed.root);
  const PluginId gating_plugin = root->fields.gating_plugin;
  Requeue(root, Verdict::kAfterBackoff, owed.label);
  if (root->place != Place::kGated) {
    TellAllMoved(*root, Place::kGated, owed.label);
  } else if (root->fields.gating_plugin == gating_plugin) {
    Settle(owed.root);
  }
  return true;
}

bool GroupChange::FlushFromPool(GroupId id, Duration max_in_unschedulable) {
  const RootState* const known = state_.roots.Get(id);
  if (known == nullptr || known->place != Place::kGated) return false;
  const QueueingFields& fields = known->fields;
  const Instant since = std::max(fields.timestamp, fields.flush_timestamp.value_or(Instant::min()));
  if (Now() - since <= max_in_unschedulable) return false;
  RootState* const root = EditRoot(id);
  root->fields.flush_timestamp = Now();
  for (const PodId pod : root->members) Edit(PodKey(Newest(pod).key))->fields.was_flushed = true;
  const ClusterEvent timeout = UnschedulableTimeoutEvent();
  const Verdict verdict = Judge(*root, timeout, {});
  if (verdict == Verdict::kSkip) return true;
  TakeOut(root);
  Requeue(root, verdict, timeout.label);
  TellAllMoved(*root, Place::kGated, timeout.label);
  return true;
}

void GroupChange::Settle(GroupId root) {
  std::erase_if(state_.owed, [root](const auto& owed) { return owed.root == root; });
}

}  // namespace schedq
