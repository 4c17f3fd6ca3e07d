#include "bench/loop/cluster_sink.h"

#include <string>
#include <utility>

#include "dispatcher/server/pod_patch.h"

namespace schedq {

ClusterSink::ClusterSink(Cluster* cluster, const CostModel* costs, Random* random,
                         MetricsRegistry* metrics)
    : cluster_(cluster),
      costs_(*costs),
      random_(random),
      events_(&metrics->Counters({.name = "schedq_pod_events_total",
                                  .help = "Events that went out with status patches.",
                                  .labels = {"reason"}})) {}

void ClusterSink::Execute(const ApiCall& call, std::function<void(const Status&)> done) {
  const CallLatency* latency = &costs_.status;
  if (call.type == CallType::kBinding) latency = &costs_.bind;
  if (call.type == CallType::kDeletion) latency = &costs_.remove;
  Clock& clock = cluster_->clock();
  clock.At(clock.Now() + latency->Draw(random_),
           [this, &call, done = std::move(done)] { done(Apply(call)); });
}

Status ClusterSink::Apply(const ApiCall& call) {
  const uint64_t number = AsClusterPod(*call.pod).number;
  if (cluster_->FindPod(number) == nullptr) return Error("the pod was not found (404)");
  switch (call.type) {
    case CallType::kBinding:
      return cluster_->BindPod(number, std::string(call.node()));
    case CallType::kDeletion:
      cluster_->DeletePod(number);
      return Status::Ok();
    case CallType::kStatusPatch:
      cluster_->UpdatePod(number, [&](ClusterPod* pod) { return ApplyPatch(call, pod); });
      if (call.sends_event) events_->At({std::string(call.condition.reason)}).Add();
      return Status::Ok();
  }
  return Error("a call of no known type (400)");
}

}  // namespace schedq
