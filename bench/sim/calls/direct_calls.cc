#include "bench/sim/calls/direct_calls.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "bench/format/workload/fault.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "schedq/attempt.h"

namespace schedq {

DirectCalls::DirectCalls(const PodCallsOptions& options)
    : PodCalls(options.metrics),
      options_(options),
      tokens_(&options.cluster->clock(), ClientRate::Of(options.settings, *options.costs)) {}

void DirectCalls::Make(CallKind kind, const char* call, const CallLatency& latency,
                       CallRunner::Act act) {
  const Duration wait = TakeToken(call);
  if (wait == Duration(0)) return runner_.Run(kind, latency, std::move(act));
  Clock& clock = options_.cluster->clock();
  clock.At(clock.Now() + wait, [this, kind, latency, act = std::move(act)]() mutable {
    runner_.Run(kind, latency, std::move(act));
  });
}

void DirectCalls::PatchCondition(const PodKey&, const PodRef& pod, FailureText failure,
                                 std::function<void()> ended) {
  SCHEDQ_CHECK(ended == nullptr, "only the dispatcher's calls gate the queue");
  PodCondition condition{std::string(kPodScheduledCondition), "False", std::string(failure.reason),
                         std::move(failure.message)};
  unsent_.push_back({pod, std::move(condition), std::nullopt});
}

void DirectCalls::WaitForPatches(const std::function<void()>& then) {
  if (unsent_.empty()) return then();
  SendFrom(std::make_shared<std::vector<Patch>>(std::exchange(unsent_, {})), 0, then);
}

// One after the other, as each was made.
void DirectCalls::SendFrom(const std::shared_ptr<std::vector<Patch>>& patches, size_t index,
                           std::function<void()> then) {
  if (index == patches->size()) return then();
  Send((*patches)[index], [this, patches, index, then = std::move(then)]() mutable {
    SendFrom(patches, index + 1, std::move(then));
  });
}

// Changes nothing where the pod is gone or bound.
void DirectCalls::Send(Patch patch, std::function<void()> then) {
  const PodCondition* const shown =
      patch.condition ? FindCondition(*patch.pod, patch.condition->type) : nullptr;
  const bool is_shown = !patch.condition || (shown != nullptr && *shown == *patch.condition);
  if (is_shown && (!patch.node || *patch.node == patch.pod->nominated_node_name)) return then();
  const uint64_t number = AsClusterPod(*patch.pod).number;
  Make(CallKind::kPatch, kPatchCall, options_.costs->status,
       [this, number, patch = std::move(patch), then = std::move(then)](const Status& taken) {
         if (!taken.ok()) return then();
         options_.cluster->UpdatePod(number, [&](ClusterPod* patched) {
           if (!patched->node_name.empty()) return false;
           const bool changes = patch.condition && SetCondition(patched, *patch.condition);
           const bool moves = patch.node && std::exchange(patched->nominated_node_name,
                                                          *patch.node) != *patch.node;
           return changes || moves;
         });
         then();
       });
}

void DirectCalls::BeginBinding(const PodKey&, const PodRef& pod, const std::string& node,
                               bool has_work, std::function<void()> then) {
  const bool nominates = has_work && options_.gates.On(Gate::kNominatedNodeNameForExpectation);
  nominates ? Nominate(pod, node, std::move(then)) : then();
}

void DirectCalls::ShowNode(const PodKey&, const PodRef& pod, const std::string& node) {
  if (options_.gates.On(Gate::kNominatedNodeNameForExpectation)) Nominate(pod, node, [] {});
}

// With the condition that the attempt has just shown.
void DirectCalls::EndFailedCycle(const PodKey&, const PodRef& pod,
                                 const FailedNomination& nomination) {
  if (nomination.node.empty() && nomination.victims_are_going) return;
  if (!unsent_.empty() && unsent_.back().pod->uid == pod->uid) {
    unsent_.back().node = nomination.node;
  } else if (pod->nominated_node_name != nomination.node) {
    Nominate(pod, nomination.node, [] {});
  }
}

void DirectCalls::ClearNomination(const PodKey& key, const PodRef& pod) {
  EndFailedCycle(key, pod, {});
}

void DirectCalls::Nominate(const PodRef& pod, const std::string& node, std::function<void()> then) {
  Send({pod, std::nullopt, node}, std::move(then));
}

void DirectCalls::Bind(const PodKey&, const PodRef& pod, const std::string& node, Then then) {
  Make(CallKind::kBind, kBindingCall, options_.costs->bind,
       [this, number = AsClusterPod(*pod).number, node,
        then = std::move(then)](const Status& taken) {
         then(taken.ok() ? options_.cluster->BindPod(number, node) : taken);
       });
}

}  // namespace schedq
