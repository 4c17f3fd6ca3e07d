#include "bench/sim/calls/cluster_sink.h"

#include <string>
#include <utility>

#include "bench/sim/cluster/cluster_objects.h"
#include "dispatcher/server/pod_patch.h"

namespace schedq {

ClusterSink::ClusterSink(const ClusterSinkOptions& options)
    : options_(options),
      events_(&options.metrics->Counters({.name = "schedq_pod_events_total",
                                          .help = "Events that went out with status patches.",
                                          .labels = {"reason"}})) {}

void ClusterSink::Execute(const ApiCall& call, std::function<void(const Status&)> done) {
  if (options_.answers_at_once) return done(Apply(call));
  const CostModel& costs = *options_.costs;
  const CallLatency* latency = &costs.status;
  if (call.type == CallType::kBinding) latency = &costs.bind;
  if (call.type == CallType::kDeletion) latency = &costs.remove;
  Clock& clock = options_.cluster->clock();
  clock.At(clock.Now() + latency->Draw(options_.random),
           [this, &call, done = std::move(done)] { done(Apply(call)); });
}

Status ClusterSink::Apply(const ApiCall& call) {
  if (options_.cluster->IsOut()) return Error("the API server is out (503)");
  const uint64_t number = AsClusterPod(*call.pod).number;
  if (options_.cluster->FindPod(number) == nullptr) return Error("the pod was not found (404)");
  switch (call.type) {
    case CallType::kBinding:
      return options_.cluster->BindPod(number, std::string(call.node()));
    case CallType::kDeletion:
      options_.cluster->DeletePodGracefully(number);
      return Status::Ok();
    case CallType::kStatusPatch:
      return Patch(call, number);
  }
  return Error("a call of no known type (400)");
}

Status ClusterSink::Patch(const ApiCall& call, uint64_t pod_number) {
  const bool has_claims = call.placement.has_value() && !call.placement->claims.empty();
  if (has_claims && !options_.store_claims(pod_number)) {
    return Error("a claim of the pod cannot be used (409)");
  }
  options_.cluster->UpdatePod(pod_number, [&](ClusterPod* pod) { return ApplyPatch(call, pod); });
  if (call.sends_event) events_->At({std::string(call.condition.reason)}).Add();
  return Status::Ok();
}

}  // namespace schedq
