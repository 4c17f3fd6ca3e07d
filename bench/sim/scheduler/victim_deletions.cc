#include "bench/sim/scheduler/victim_deletions.h"

#include <algorithm>
#include <set>

#include "bench/sim/cluster/faults.h"

namespace schedq {
namespace {

void LeaveOutGoing(std::vector<ClusterPodRef>* victims) {
  std::erase_if(*victims, [](const ClusterPodRef& victim) { return victim->deleting; });
}

}  // namespace

void VictimDeletions::BeginForGroup(const std::vector<PodRef>& members,
                                    std::vector<ClusterPodRef> victims) {
  std::set<std::string> keys;
  for (const PodRef& pod : members) {
    keys.insert(PreemptionKeyOfGroup(pod->namespace_name, pod->group_name));
  }
  Begin(Preemptor{{keys.begin(), keys.end()}, members}, std::move(victims));
}

void VictimDeletions::Begin(Preemptor preemptor, std::vector<ClusterPodRef> victims) {
  LeaveOutGoing(&victims);
  if (victims.empty()) return;
  for (const std::string& key : preemptor.keys) around_.running->Begin(key);
  auto preemption = std::make_shared<Preemption>();
  preemption->preemptor = std::move(preemptor);
  preemption->last_victim = std::move(victims.back());
  victims.pop_back();
  preemption->others = std::move(victims);
  if (preemption->others.empty()) return DeleteLast(preemption);
  DeleteFirst(preemption);
}

void VictimDeletions::DeleteAll(std::vector<ClusterPodRef> victims,
                                std::function<void(bool are_going)> then) {
  LeaveOutGoing(&victims);
  if (victims.empty()) return then(true);
  auto preemption = std::make_shared<Preemption>();
  preemption->others = std::move(victims);
  preemption->then = std::move(then);
  DeleteFirst(preemption);
}

// All that the cluster's thread counts with is there before the first call, whose answer may come
// while the next one is made.
void VictimDeletions::DeleteFirst(const std::shared_ptr<Preemption>& preemption) {
  const size_t first = std::min(kAtOnce, preemption->others.size());
  preemption->begun = first;
  preemption->in_flight = first;
  for (size_t i = 0; i < first; ++i) Remove(preemption, i);
}

// After a failure the others are left alone.
void VictimDeletions::DeleteNext(const std::shared_ptr<Preemption>& preemption) {
  while (preemption->in_flight < kAtOnce && !preemption->has_begun_all()) {
    ++preemption->in_flight;
    Remove(preemption, preemption->begun++);
  }
}

void VictimDeletions::Remove(const std::shared_ptr<Preemption>& preemption, size_t index) {
  around_.remove(std::make_shared<const VictimCalls>(
      VictimCalls{preemption->others[index], {}, [this, preemption](const Status& status) {
                    OnAnswer(preemption, status);
                  }}));
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
  --preemption->in_flight;
  if (!preemption->has_begun_all()) return DeleteNext(preemption);
  if (preemption->in_flight != 0) return;
  if (preemption->then) return preemption->then(!preemption->has_failed);
  if (!preemption->has_failed) return DeleteLast(preemption);
  End(*preemption);
  Activate(*preemption);
}

void VictimDeletions::DeleteLast(const std::shared_ptr<Preemption>& preemption) {
  // The event of the deletion is to find the pod without its gate.
  VictimCalls calls;
  calls.victim = preemption->last_victim;
  calls.at_deletion = [this, preemption] { End(*preemption); };
  calls.then = [this, preemption](const Status& status) {
    if (status.ok()) return;
    End(*preemption);
    Activate(*preemption);
  };
  around_.remove(std::make_shared<const VictimCalls>(std::move(calls)));
}

bool VictimCalls::Mark(Cluster* cluster) const {
  if (cluster->faults().Refuses(CallKind::kPatch)) {
    then(Error(kApiServerError));
    return false;
  }
  if (cluster->FindPod(victim->number) == nullptr) {
    then(Error(kVictimIsGone));
    return false;
  }
  cluster->UpdatePod(victim->number, [](ClusterPod* after) {
    return SetCondition(after, {"DisruptionTarget", "True", "PreemptionByScheduler", ""});
  });
  return true;
}

void VictimCalls::Delete(Cluster* cluster) const {
  if (cluster->faults().Refuses(CallKind::kDelete)) return then(Error(kApiServerError));
  if (at_deletion) at_deletion();
  const bool was_there = cluster->FindPod(victim->number) != nullptr;
  cluster->DeletePodGracefully(victim->number);
  then(was_there ? Status::Ok() : Status(Error(kVictimIsGone)));
}

}  // namespace schedq
