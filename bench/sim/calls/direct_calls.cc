#include "bench/sim/calls/direct_calls.h"

#include <utility>

#include "bench/sim/cluster/cluster_objects.h"
#include "schedq/attempt.h"

namespace schedq {

void DirectCalls::After(const CallLatency& latency, std::function<void()> action) {
  Clock& clock = options_.cluster->clock();
  clock.At(clock.Now() + latency.Draw(options_.random), std::move(action));
}

void DirectCalls::PatchCondition(const PodKey&, const PodRef& pod, PodCondition condition) {
  After(options_.costs->status,
        [this, number = AsClusterPod(*pod).number, condition = std::move(condition)] {
          if (options_.cluster->IsOut()) return;
          options_.cluster->UpdatePod(number, [&](ClusterPod* patched) {
            return patched->node_name.empty() && SetCondition(patched, condition);
          });
        });
}

void DirectCalls::BeginBinding(BindingBegin begin, Begun then) {
  const auto go_on = [then = std::move(then)] { then(ClaimsAfterBegin::kToStore); };
  const bool nominates =
      !begin.claims.empty() && options_.gates.On(Gate::kNominatedNodeNameForExpectation);
  nominates ? Nominate(begin.pod, begin.node, go_on) : go_on();
}

void DirectCalls::ShowNode(const PodKey&, const PodRef& pod, const std::string& node) {
  if (options_.gates.On(Gate::kNominatedNodeNameForExpectation)) Nominate(pod, node, [] {});
}

void DirectCalls::EndFailedCycle(const PodKey&, const PodRef& pod,
                                 const FailedNomination& nomination) {
  if (nomination.node.empty() && nomination.victims_are_going) return;
  if (pod->nominated_node_name != nomination.node) Nominate(pod, nomination.node, [] {});
}

void DirectCalls::ClearNomination(const PodKey&, const PodRef& pod) {
  if (!pod->nominated_node_name.empty()) Nominate(pod, "", [] {});
}

// Changes nothing where the pod is gone or bound.
void DirectCalls::Nominate(const PodRef& pod, const std::string& node, std::function<void()> then) {
  After(options_.costs->status,
        [this, number = AsClusterPod(*pod).number, node, then = std::move(then)] {
          if (options_.cluster->IsOut()) return then();
          options_.cluster->UpdatePod(number, [&](ClusterPod* patched) {
            return patched->node_name.empty() &&
                   std::exchange(patched->nominated_node_name, node) != node;
          });
          then();
        });
}

void DirectCalls::Bind(const PodKey&, const PodRef& pod, const std::string& node, Then then) {
  After(options_.costs->bind,
        [this, number = AsClusterPod(*pod).number, node, then = std::move(then)] {
          then(options_.cluster->BindPod(number, node));
        });
}

}  // namespace schedq
