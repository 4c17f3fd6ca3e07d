// The real scheduler's cycles of groups.
//
// The patch of a group's condition is posted, and nobody waits for its answer; kube-scheduler does.
#include <utility>
#include <vector>

#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/real/tell_of_room.h"
#include "engine/base/result.h"
#include "engine/plugin.h"
#include "engine/pod.h"

namespace schedq {

std::vector<Attempt> RealScheduler::TakeMembers(SchedulingThread* self, Attempt* group,
                                                Instant started) {
  std::vector<Attempt> members;
  for (Attempt& member : group->TakeMembers()) {
    const ClusterPod& pod = AsClusterPod(member.pod());
    if (member.attempts() == 1) self->popped.Record(started - pod.created);
    if (pod.deleting || cache_->IsAssumed(pod.slot())) {
      const Status abandoned = member.Abandon();
      SCHEDQ_CHECK(abandoned.ok(), "an attempt is abandoned once, before it is done");
      continue;
    }
    attempts_.Begin(pod.slot());
    members.push_back(std::move(member));
  }
  return members;
}

void RealScheduler::ScheduleGroup(SchedulingThread* self, PartClock* parts, Attempt group) {
  const Instant started = options_.pace->Now();
  std::vector<Attempt> members = TakeMembers(self, &group, started);
  GroupOutcome outcome;
  outcome.status = GroupStatus::kSuccess;
  if (!members.empty()) {
    parts->SwitchTo(Part::kPlacing);
    std::vector<ClusterPodRef> pods;
    for (const Attempt& member : members) pods.push_back(AsClusterPod(member.pod_ref()));
    outcome = self->groups.Run(group.group().root, pods, options_.pace->Now());
    nodes_looked_at_.fetch_add(outcome.searched.nodes_looked_at + outcome.preempted.nodes_looked_at,
                               std::memory_order_relaxed);
    conflicts_.fetch_add(outcome.conflicts, std::memory_order_relaxed);
    BeginPreemption(parts, members, &outcome);
    for (size_t i = 0; i < members.size(); ++i) {
      MemberOutcome& member = outcome.members[i];
      // Its attempt is as long as its own trial, whatever the cycle did beside it.
      const Instant began = options_.pace->Now() - member.spent;
      if (member.end != MemberEnd::kBind) {
        parts->SwitchTo(Part::kQueue);
        FailMember(&members[i], member, began);
        continue;
      }
      const PodRef pod = members[i].pod_ref();
      if (Go(parts, &members[i], &member.decision, began)) continue;
      parts->SwitchTo(Part::kQueue);
      // A Permit plugin has rejected it, or it was deleted.
      member.end = MemberEnd::kRejected;
      FailMember(&members[i], member, began);
      TellOthersOfRoom(queue_.get(), *pod, member.decision.node);
    }
    PatchConditions(&outcome);
    if (outcome.was_searched) {
      metrics_.CountGroupAttempt(outcome.Counted(), outcome.waits_for_preemption,
                                 options_.pace->Now() - started);
    }
  }
  parts->SwitchTo(Part::kQueue);
  const Status ended = group.EndGroup(outcome.status);
  SCHEDQ_CHECK(ended.ok(), "a cycle ends once");
}

// The queue refuses where the pod is queued again, but the attempt ends in any case.
void RealScheduler::FailMember(Attempt* attempt, const MemberOutcome& outcome, Instant started) {
  attempts_.End(AsClusterPod(attempt->pod()).slot());
  PluginSet rejectors;
  if (outcome.end == MemberEnd::kRejected) rejectors = rejectors_->Of(outcome.decision);
  const bool is_error = outcome.end == MemberEnd::kError;
  if (!outcome.nominated.empty()) cache_->nominations().Expect();
  if (cache_->nominations().MayBeAny()) {
    static_cast<void>(
        attempt->Fail(rejectors, PluginSet(), {outcome.nominated, outcome.keeps_nomination}));
  } else {
    static_cast<void>(attempt->Fail(rejectors));
  }
  metrics_.CountAttempt(is_error ? AttemptResult::kError : AttemptResult::kUnschedulable,
                        options_.pace->Now() - started);
}

void RealScheduler::BeginPreemption(PartClock* parts, const std::vector<Attempt>& members,
                                    GroupOutcome* outcome) {
  if (!outcome->asked_to_preempt) return;
  metrics_.CountGroupPostFilter(outcome->waits_for_preemption, outcome->victims.size(),
                                outcome->violations);
  if (preempts_in_cycle()) {
    if (!DeleteInCycle(parts, outcome->victims)) FailPreemption(outcome);
    return;
  }
  std::vector<PodRef> pods;
  for (const Attempt& member : members) pods.push_back(member.pod_ref());
  victims_->BeginForGroup(pods, outcome->victims);
}

void RealScheduler::PatchConditions(GroupOutcome* outcome) {
  if (outcome->conditions.empty()) return;
  options_.pace->Post([this, conditions = std::move(outcome->conditions)] {
    for (const auto& [key, condition] : conditions) {
      if (options_.cluster->faults().Refuses(CallKind::kGroup)) continue;
      options_.cluster->SetGroupCondition(key, condition);
    }
  });
}

}  // namespace schedq
