#include "bench/sim/scheduler/victim_deletions.h"

namespace schedq {

void VictimDeletions::Begin(const PodRef& pod, std::vector<ClusterPodRef> victims) {
  around_.running->Begin(pod->uid);
  auto preemption = std::make_shared<Preemption>();
  preemption->pod = pod;
  preemption->last_victim = std::move(victims.back());
  victims.pop_back();
  preemption->waits_for = victims.size();
  if (victims.empty()) return DeleteLast(preemption);
  for (const ClusterPodRef& victim : victims) {
    around_.remove(victim,
                   [this, preemption](const Status& status) { OnAnswer(preemption, status); });
  }
}

void VictimDeletions::OnAnswer(const std::shared_ptr<Preemption>& preemption,
                               const Status& status) {
  const bool has_failed = !status.ok() && status.error().message() != kVictimIsGone;
  preemption->has_failed = preemption->has_failed || has_failed;
  if (--preemption->waits_for != 0) return;
  if (!preemption->has_failed) return DeleteLast(preemption);
  around_.running->End(preemption->pod->uid);
  around_.activate(preemption->pod);
}

void VictimDeletions::DeleteLast(const std::shared_ptr<Preemption>& preemption) {
  // Before the call, whose event is to find the pod without its gate.
  around_.running->End(preemption->pod->uid);
  around_.remove(preemption->last_victim, [this, preemption](const Status& status) {
    if (!status.ok()) around_.activate(preemption->pod);
  });
}

}  // namespace schedq
