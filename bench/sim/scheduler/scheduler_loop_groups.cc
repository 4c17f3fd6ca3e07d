// The loop's cycles of groups.
#include <algorithm>
#include <utility>

#include "bench/sim/scheduler/scheduler_loop.h"

namespace schedq {
namespace {

constexpr const char* kGroupFailed = "the pod's group is unschedulable";
constexpr const char* kGroupInError = "the pod's group could not be scheduled because of an error";

}  // namespace

void SchedulerLoop::StartGroup(const PoppedPod& popped) {
  auto group = std::make_shared<GroupAttempt>();
  group->popped = popped;
  group->started = clock_.Now();
  for (const PoppedPod& member : popped.group->members) {
    auto attempt = std::make_shared<Attempt>();
    attempt->popped = member;
    attempt->started = group->started;
    group->members.push_back(std::move(attempt));
  }
  const bool skips =
      std::any_of(group->members.begin(), group->members.end(), [this](const AttemptRef& attempt) {
        return attempt->pod().deleting || cache_.IsAssumed(attempt->pod().slot());
      });
  if (!skips) return TryGroup(group);
  lock_.Run([this, group] { return SkipMembers(group); }, [this, group] { TryGroup(group); });
}

Duration SchedulerLoop::SkipMembers(const GroupAttemptRef& group) {
  Duration cost{};
  std::erase_if(group->members, [&](const AttemptRef& attempt) {
    if (!attempt->pod().deleting && !cache_.IsAssumed(attempt->pod().slot())) return false;
    queue_.Abandon(attempt->popped);
    cost += costs_.queue_done;
    return true;
  });
  return cost;
}

void SchedulerLoop::TryGroup(const GroupAttemptRef& group) {
  if (group->members.empty()) {
    group->outcome.status = GroupStatus::kSuccess;
    return EndGroup(group);
  }
  std::vector<ClusterPodRef> pods;
  for (const AttemptRef& attempt : group->members) pods.push_back(attempt->pod_ref());
  group->outcome = group_cycle_.Run(group->popped.group->root, pods, clock_.Now());
  GroupOutcome& outcome = group->outcome;
  for (size_t i = 0; i < outcome.members.size(); ++i) {
    const AttemptRef& attempt = group->members[i];
    attempt->decision = outcome.members[i].decision;
    if (attempt->decision.nodes_looked_at != 0) {
      const Duration trial = CostOfTrial(*attempt);
      metrics_.ObserveExtensionPoint("Filter", !attempt->decision.node.empty(),
                                     trial - costs_.attempt);
      metrics_.ObserveAlgorithm(trial);
    }
    if (outcome.members[i].end != MemberEnd::kBind) continue;
    queue_.watch().CountPlaced(attempt->pod());
    // From here on the pod takes its room by itself.
    if (cache_.nominations().MayBeAny() &&
        !queue_.queue().NominatedNode(attempt->popped.key).empty()) {
      queue_.Nominate(attempt->popped.pod, "");
    }
  }
  if (outcome.was_searched) {
    metrics_.ObserveGroupAlgorithm(CostOfGroup(*group, outcome.searched));
  }
  GroupWork all = outcome.searched;
  all.Add(outcome.preempted);
  const Duration nodes = CostOfNodes(group->members.front()->pod(), all.nodes_looked_at);
  After(cluster_->processors().BeginWork(CostOfGroup(*group, all) - nodes, nodes), [this, group] {
    const bool preempts = !group->outcome.victims.empty();
    if (preempts_in_cycle_ && preempts) return PreemptInCycle(group);
    SubmitGroup(group);
  });
}

// What an attempt takes beyond its decision is there once a member.
Duration SchedulerLoop::CostOfGroup(const GroupAttempt& group, const GroupWork& work) const {
  const size_t attempts = std::clamp<size_t>(work.decisions, 1, group.members.size());
  const size_t further = work.decisions - std::min(work.decisions, attempts);
  return static_cast<int64_t>(attempts) * costs_.attempt +
         static_cast<int64_t>(further) * costs_.group_decision +
         CostOfNodes(group.members.front()->pod(), work.nodes_looked_at);
}

void SchedulerLoop::PreemptInCycle(const GroupAttemptRef& group) {
  victims_.DeleteAll(group->outcome.victims, [this, group](bool are_going) {
    if (!are_going) FailPreemption(&group->outcome);
    SubmitGroup(group);
  });
}

void SchedulerLoop::SubmitGroup(const GroupAttemptRef& group) {
  lock_.Run(
      [this, group] {
        BeginPreemption(group);
        Duration all{};
        for (size_t i = 0; i < group->members.size(); ++i) all += FinishMember(group, i);
        return all;
      },
      [this, group] { calls_->WaitForPatches([this, group] { PatchConditions(group); }); });
}

Duration SchedulerLoop::CostOfTrial(const Attempt& attempt) const {
  return costs_.attempt + CostOfNodes(attempt.pod(), attempt.decision.nodes_looked_at);
}

Duration SchedulerLoop::FinishMember(const GroupAttemptRef& group, size_t index) {
  const AttemptRef& attempt = group->members[index];
  const MemberOutcome& outcome = group->outcome.members[index];
  // Its attempt is as long as its own trial, whatever the cycle did beside it.
  attempt->started = clock_.Now() - (outcome.was_tried ? CostOfTrial(*attempt) : Duration(0));
  if (outcome.end != MemberEnd::kBind) return FailMember(attempt, outcome);
  // It was deleted amid the cycle, when no wait could be ended yet.
  if (cache_.IsGone(attempt->pod())) return FailPermit(attempt, WaitingPods::kRemoved);
  attempt->permit =
      cache_.framework().Permit(attempt->popped.pod, attempt->decision, &waiting_pods_);
  if (attempt->permit.rejector != WaitingPods::kAllowed) {
    return FailPermit(attempt, attempt->permit.rejector);
  }
  if (!attempt->permit.waits.empty()) {
    Wait(attempt);
    return Duration(0);
  }
  queue_.Done(attempt->popped);
  BeginBinding(attempt);
  return costs_.queue_done;
}

Duration SchedulerLoop::FailMember(const AttemptRef& attempt, const MemberOutcome& outcome) {
  const uint64_t asked_before = queue_.asked();
  PluginSet rejectors;
  if (outcome.end == MemberEnd::kRejected) rejectors = rejectors_.Of(outcome.decision);
  queue_.Fail(attempt->popped, rejectors);
  const bool is_error = outcome.end == MemberEnd::kError;
  metrics_.CountAttempt(is_error ? AttemptResult::kError : AttemptResult::kUnschedulable,
                        clock_.Now() - attempt->started);
  ReportFailure(attempt, rejectors, is_error ? kGroupInError : kGroupFailed);
  if (!outcome.nominated.empty()) {
    cache_.nominations().Expect();
    queue_.Nominate(attempt->popped.pod, outcome.nominated);
    calls_->EndFailedCycle(attempt->popped.key, NewestOf(attempt), {outcome.nominated, false});
  } else if (!outcome.keeps_nomination && cache_.nominations().MayBeAny()) {
    if (!queue_.queue().NominatedNode(attempt->popped.key).empty()) {
      queue_.Nominate(attempt->popped.pod, "");
    }
    const PodRef newest = NewestOf(attempt);
    if (!newest->nominated_node_name.empty()) {
      calls_->EndFailedCycle(attempt->popped.key, newest, {});
    }
  }
  const uint64_t asked = queue_.asked() - asked_before;
  return costs_.queue_fail + static_cast<int64_t>(asked) * costs_.queue_judge;
}

void SchedulerLoop::BeginPreemption(const GroupAttemptRef& group) {
  GroupOutcome& outcome = group->outcome;
  if (!outcome.asked_to_preempt) return;
  metrics_.CountGroupPostFilter(outcome.waits_for_preemption, outcome.victims.size(),
                                outcome.violations);
  if (preempts_in_cycle_) return;
  std::vector<PodRef> pods;
  for (const AttemptRef& attempt : group->members) pods.push_back(attempt->popped.pod);
  victims_.BeginForGroup(pods, outcome.victims);
}

// One call after the other, and the scheduling thread waits for each.
void SchedulerLoop::PatchConditions(const GroupAttemptRef& group) {
  if (group->patched == group->outcome.conditions.size()) return EndGroup(group);
  Call(kGroupPatchCall, costs_.status, [this, group] {
    const auto& [key, condition] = group->outcome.conditions[group->patched++];
    if (!cluster_->faults().Refuses(CallKind::kGroup)) cluster_->SetGroupCondition(key, condition);
    PatchConditions(group);
  });
}

void SchedulerLoop::EndGroup(const GroupAttemptRef& group) {
  lock_.Run(
      [this, group] {
        const uint64_t asked_before = queue_.asked();
        queue_.EndGroup(*group->popped.group, group->outcome.status);
        if (group->outcome.was_searched) {
          metrics_.CountGroupAttempt(group->outcome.Counted(), group->outcome.waits_for_preemption,
                                     clock_.Now() - group->started);
        }
        const uint64_t asked = queue_.asked() - asked_before;
        return costs_.queue_fail + static_cast<int64_t>(asked) * costs_.queue_judge;
      },
      [this] { PopNext(); });
}

}  // namespace schedq
