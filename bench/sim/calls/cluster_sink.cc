#include "bench/sim/calls/cluster_sink.h"

#include <string>
#include <utility>

#include "bench/format/workload/fault.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "dispatcher/server/pod_patch.h"

namespace schedq {
namespace {

CallKind KindOf(CallType type) {
  switch (type) {
    case CallType::kBinding:
      return CallKind::kBind;
    case CallType::kDeletion:
      return CallKind::kDelete;
    case CallType::kStatusPatch:
      break;
  }
  return CallKind::kPatch;
}

const CallLatency& LatencyOf(CallType type, const CostModel& costs) {
  if (type == CallType::kBinding) return costs.bind;
  return type == CallType::kDeletion ? costs.remove : costs.status;
}

}  // namespace

CounterFamily* PodEventsIn(MetricsRegistry* metrics) {
  return &metrics->Counters({.name = "schedq_pod_events_total",
                             .help = "Events about pods that went to the API server.",
                             .labels = {"reason"}});
}

ClusterSink::ClusterSink(const ClusterSinkOptions& options)
    : options_(options), runner_(options.cluster, options.random, options.take_token) {}

void ClusterSink::Execute(const ApiCall& call, std::function<void(const Status&)> done) {
  const CallKind kind = KindOf(call.type);
  if (options_.answers_at_once) {
    const Status taken = runner_.RunAtOnce(kind);
    return done(taken.ok() ? Apply(call) : taken);
  }
  runner_.Run(kind, LatencyOf(call.type, *options_.costs),
              [this, &call, done = std::move(done)](const Status& taken) {
                done(taken.ok() ? Apply(call) : taken);
              });
}

Status ClusterSink::Apply(const ApiCall& call) {
  const uint64_t number = AsClusterPod(*call.pod).number;
  if (options_.cluster->FindPod(number) == nullptr) return Error("the pod was not found (404)");
  switch (call.type) {
    case CallType::kBinding:
      return options_.cluster->BindPod(number, std::string(call.node()));
    case CallType::kDeletion:
      options_.cluster->DeletePodGracefully(number);
      return Status::Ok();
    case CallType::kStatusPatch:
      options_.cluster->UpdatePod(number, [&](ClusterPod* pod) { return ApplyPatch(call, pod); });
      if (call.sends_event) options_.events->At({std::string(call.condition.reason)}).Add();
      return Status::Ok();
  }
  return Error("a call of no known type (400)");
}

}  // namespace schedq
