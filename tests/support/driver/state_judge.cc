#include "tests/support/driver/state_judge.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/base/result.h"

namespace schedq {

std::string StateJudge::KeyOf(const Pod& pod) { return FullName(pod) + " " + pod.uid; }

// Where several incarnations are in flight, the operation is about the live one if it is in flight,
// else about the one that was popped last.
void StateJudge::Before(const TraceOperation& operation) {
  target_name_.clear();
  target_key_.clear();
  if (operation.op != TraceOp::kFail && operation.op != TraceOp::kBind) return;
  const auto& entries = replayer_.pods().entries();
  const auto found = entries.find(operation.pod_name);
  if (found == entries.end()) return;
  const TracedPods::Entry& entry = found->second;
  PodRef meant = entry.in_flight.empty() ? entry.live : entry.in_flight.back().pod;
  for (const auto& incarnation : entry.in_flight) {
    if (entry.live != nullptr && incarnation.pod->uid == entry.live->uid) meant = entry.live;
  }
  if (meant == nullptr) return;
  target_name_ = operation.pod_name;
  target_key_ = KeyOf(*meant);
}

std::string StateJudge::After(const TraceOperation& operation, const TraceOutcome& outcome) {
  faults_.clear();
  popped_.clear();
  Follow(operation, outcome);
  before_.swap(seen_);
  ReadState();
  const size_t faults_before = faults_.size();
  CheckPlaces();
  CheckInFlight(operation);
  // The following checks assume right places, so wrong ones end the checks.
  if (faults_.size() > faults_before) return faults_;
  for (const auto& [name, where] : seen_) CheckFields(name, where);
  if (groups_.has_groups()) CheckMembers();
  if (operation.op == TraceOp::kPop) CheckPop();
  FollowEntries();
  CheckMoves(operation);
  // These two checks take as long as all others, so not every operation runs them.
  constexpr uint64_t kNominationsEvery = 4;
  constexpr uint64_t kGaugesEvery = 128;
  const bool asked = operation.op == TraceOp::kNominated;
  if (asked || operations_ % kNominationsEvery == 0) CheckNominations(operation, outcome);
  if (operation.op == TraceOp::kEnd || ++operations_ % kGaugesEvery == 0) CheckGauges();
  return faults_;
}

StateJudge::LivePod* StateJudge::FindLive(const std::string& name, const std::string& key) {
  const auto found = live_.find(name);
  return found == live_.end() || KeyOf(*found->second.pod) != key ? nullptr : &found->second;
}

void StateJudge::Follow(const TraceOperation& operation, const TraceOutcome& outcome) {
  switch (operation.op) {
    case TraceOp::kAdd: {
      LivePod& added = live_[FullName(*operation.pod)];
      added = {operation.pod, Account(), flights_.contains(KeyOf(*operation.pod))};
      added.account.timestamp = replayer_.Now();
      added.account.nomination = operation.pod->nominated_node_name;
      break;
    }
    case TraceOp::kUpdate:
      FollowUpdate(operation.pod);
      break;
    case TraceOp::kDelete:
      live_.erase(operation.pod_name);
      break;
    case TraceOp::kBind: {
      const bool flew = flights_.erase(target_key_) > 0;
      const LivePod* bound = FindLive(target_name_, target_key_);
      if (bound == nullptr) break;  // The live pod is another incarnation.
      const PodWhereabouts& where = seen_[target_name_];
      const bool flies = where.place == Place::kInFlight;
      bound_after_flush_ += flies ? bound->account.was_flushed : where.fields.was_flushed;
      if (flew && bound->is_readded_in_flight) knows_bound_after_flush_ = false;
      live_.erase(target_name_);
      break;
    }
    case TraceOp::kFail:
      FollowFail(operation);
      break;
    case TraceOp::kPop:
      FollowPop(outcome);
      break;
    case TraceOp::kNominate: {
      const auto found = live_.find(operation.pod_name);
      if (found != live_.end()) found->second.account.nomination = operation.node;
      break;
    }
    case TraceOp::kGroupDone: {
      const Result<GroupKey> root = replayer_.groups().Named(operation.group_name);
      if (root) groups_.EndCycle(*root);
      break;
    }
    default:
      groups_.Follow(operation);
      break;
  }
}

// The queue refuses to fail a queued pod. For a pod that is not live, Fail only ends its attempt.
void StateJudge::FollowFail(const TraceOperation& operation) {
  const auto flight = flights_.find(target_key_);
  if (flight == flights_.end()) return;
  LivePod* live = FindLive(target_name_, target_key_);
  if (live != nullptr && seen_[target_name_].place == Place::kInFlight) {
    Account account = flight->second;
    account.nomination = live->account.nomination;
    account.timestamp = replayer_.Now();
    account.was_flushed = false;
    if (groups_.IsMember(*live->pod)) {
      // Its group counts, when its cycle ends.
    } else if (operation.unschedulable.empty() && operation.pending.empty()) {
      ++account.consecutive_errors;
    } else {
      ++account.unschedulable_count;
      account.consecutive_errors = 0;
    }
    live->account = account;
  }
  if (live != nullptr) live->is_readded_in_flight = false;
  flights_.erase(flight);
}

void StateJudge::FollowPop(const TraceOutcome& outcome) {
  if (!outcome.popped && !outcome.popped_group) return;
  if (outcome.popped_group) {
    FollowPopOfGroup(outcome);
  } else {
    TakeOff(*outcome.popped, outcome.attempts);
  }
  ++cycle_;
  if (static_cast<uint64_t>(outcome.cycle) != cycle_) {
    AddFault("scheduling cycle " + std::to_string(outcome.cycle) + ", expected " +
             std::to_string(cycle_));
  }
}

void StateJudge::TakeOff(const std::string& display_name, int64_t attempts) {
  for (const auto& [name, entry] : replayer_.pods().entries()) {
    if (replayer_.pods().DisplayName(entry) != display_name) continue;
    popped_.push_back(name);
    const std::string key = KeyOf(*entry.in_flight.back().pod);
    LivePod* live = FindLive(name, key);
    if (live == nullptr) return AddFault("popped " + key + ", which is not live");
    ++live->account.attempts;
    live->account.was_flushed = seen_[name].fields.was_flushed;
    flights_[key] = live->account;
    if (attempts == live->account.attempts) continue;
    AddFault("popped " + name + " with attempts " + std::to_string(attempts) + ", expected " +
             std::to_string(live->account.attempts));
  }
}

// The queue sorts a pod that entered it by the pod's newest version.
void StateJudge::FollowEntries() {
  for (auto& [name, live] : live_) {
    const auto was = before_.find(name);
    const bool entered = was == before_.end() || was->second.place != seen_.at(name).place;
    if (entered) live.account.sorted_priority = live.pod->priority;
  }
}

// An update of a pod in flight changes neither its order nor its nomination. For any other pod, a
// node that one of the two versions names decides the nomination.
void StateJudge::FollowUpdate(const PodRef& after) {
  const auto found = live_.find(FullName(*after));
  if (found == live_.end()) return;
  LivePod& live = found->second;
  const PodRef before = std::exchange(live.pod, after);
  if (flights_.contains(KeyOf(*after))) return;
  live.account.sorted_priority = after->priority;
  if (before->nominated_node_name.empty() && after->nominated_node_name.empty()) return;
  live.account.nomination = after->nominated_node_name;
}

}  // namespace schedq
