#include "bench/sim/scheduler/victim_deletions.h"

#include <set>

namespace schedq {

void VictimDeletions::BeginForGroup(const std::vector<PodRef>& members,
                                    std::vector<ClusterPodRef> victims) {
  std::erase_if(victims, [](const ClusterPodRef& victim) { return victim->deleting; });
  if (victims.empty()) return;
  std::set<std::string> keys;
  for (const PodRef& pod : members) {
    keys.insert(PreemptionKeyOfGroup(pod->namespace_name, pod->group_name));
  }
  Begin(Preemptor{{keys.begin(), keys.end()}, members}, std::move(victims));
}

void VictimDeletions::Begin(Preemptor preemptor, std::vector<ClusterPodRef> victims) {
  for (const std::string& key : preemptor.keys) around_.running->Begin(key);
  auto preemption = std::make_shared<Preemption>();
  preemption->preemptor = std::move(preemptor);
  preemption->last_victim = std::move(victims.back());
  victims.pop_back();
  preemption->waits_for = victims.size();
  if (victims.empty()) return DeleteLast(preemption);
  for (const ClusterPodRef& victim : victims) {
    around_.remove(victim,
                   [this, preemption](const Status& status) { OnAnswer(preemption, status); });
  }
}

void VictimDeletions::End(const Preemption& preemption) {
  for (const std::string& key : preemption.preemptor.keys) around_.running->End(key);
}

void VictimDeletions::Activate(const Preemption& preemption) {
  for (const PodRef& pod : preemption.preemptor.pods) around_.activate(pod);
}

void VictimDeletions::OnAnswer(const std::shared_ptr<Preemption>& preemption,
                               const Status& status) {
  const bool has_failed = !status.ok() && status.error().message() != kVictimIsGone;
  preemption->has_failed = preemption->has_failed || has_failed;
  if (--preemption->waits_for != 0) return;
  if (!preemption->has_failed) return DeleteLast(preemption);
  End(*preemption);
  Activate(*preemption);
}

void VictimDeletions::DeleteLast(const std::shared_ptr<Preemption>& preemption) {
  // Before the call, whose event is to find the pod without its gate.
  End(*preemption);
  around_.remove(preemption->last_victim, [this, preemption](const Status& status) {
    if (!status.ok()) Activate(*preemption);
  });
}

}  // namespace schedq
