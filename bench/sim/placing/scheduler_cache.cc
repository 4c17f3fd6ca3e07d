#include "bench/sim/placing/scheduler_cache.h"

#include <memory>
#include <span>

#include "bench/sim/placing/resource_table.h"
#include "engine/event.h"

namespace schedq {
namespace {

constexpr uint64_t kAssumed = 1;

uint64_t WordFor(uint32_t slot) { return (uint64_t{slot} + 1) << 1; }
bool CountsOnANode(uint64_t word) { return word >> 1 != 0; }
uint32_t SlotOfWord(uint64_t word) { return static_cast<uint32_t>((word >> 1) - 1); }

}  // namespace

SchedulerCache::PodWord& SchedulerCache::WordOf(uint64_t pod_number) {
  pods_.ReserveThrough(pod_number);
  return pods_[pod_number];
}

void SchedulerCache::GiveBack(const ClusterPod& pod, uint64_t word) {
  if (CountsOnANode(word)) nodes_.Give(SlotOfWord(word), nodes_.resources().DemandOf(pod));
}

void SchedulerCache::Apply(const ClusterChange& change) {
  switch (change.resource) {
    case Resource::kPod:
      return ApplyPod(change);
    case Resource::kNode:
      if (change.objects.after == nullptr) return nodes_.RemoveNode(change.objects.before->name);
      return nodes_.SetNode(std::static_pointer_cast<const ClusterNode>(change.objects.after));
    default:
      return claims_.Apply(change);
  }
}

void SchedulerCache::ApplyPod(const ClusterChange& change) {
  if (change.pod_after == nullptr) {
    // An assumed pod stays assumed until its binding has failed, but counts no more.
    const uint64_t before = WordOf(change.pod_before->number).fetch_and(kAssumed);
    return GiveBack(*change.pod_before, before);
  }
  const ClusterPod& pod = *change.pod_after;
  if (pod.node_name.empty()) return;
  // Its promises are in its claims by now, or will be when the informers deliver these.
  PodWord& word = WordOf(pod.number);
  const uint64_t before = word.load();
  const std::optional<uint32_t> slot = nodes_.SlotOf(pod.node_name);
  if (slot && CountsOnANode(before) && SlotOfWord(before) == *slot) {
    word.store(WordFor(*slot));
    return;
  }
  const uint32_t taken = nodes_.Take(pod.node_name, nodes_.resources().DemandOf(pod));
  GiveBack(pod, word.exchange(WordFor(taken)));
}

bool SchedulerCache::Assume(const ClusterPod& pod, const Decision& decision) {
  const NodeDemand demand = nodes_.resources().DemandOf(pod);
  if (!nodes_.Reserve(decision.slot, demand)) return false;
  if (!decision.claims.empty() && !claims_.Promise(decision.claims)) {
    nodes_.Give(decision.slot, demand);
    return false;
  }
  GiveBack(pod, WordOf(pod.number).exchange(WordFor(decision.slot) | kAssumed));
  return true;
}

bool SchedulerCache::IsAssumed(uint64_t pod_number) const {
  const PodWord* const word = pods_.Find(pod_number);
  return word != nullptr && (word->load() & kAssumed) != 0;
}

void SchedulerCache::Forget(const ClusterPod& pod, const Decision& decision, size_t stored) {
  GiveBack(pod, WordOf(pod.number).exchange(0));
  claims_.Release(std::span(decision.claims).subspan(stored));
}

}  // namespace schedq
