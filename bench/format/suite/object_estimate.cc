#include "bench/format/suite/object_estimate.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "engine/base/time/time.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

double SecondsOf(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// A pod, its volume and claim, and the claims that a controller makes for it. The first pod stands
// for all.
double ObjectsPerPod(const CreatePodsOp& op) {
  const double own = op.persistent_volume_claim != nullptr ? 3 : 1;
  if (op.count == 0 || op.pod.object == nullptr) return own;
  const Result<ApiObjectRef> object = ObjectRenderer(op.pod, op.count).Render(0);
  if (!object) return own;
  const auto* body = std::get_if<PodObject>(&(*object)->body);
  if (body == nullptr) return own;
  const auto made = std::count_if(body->claims.begin(), body->claims.end(),
                                  [](const auto& claim) { return !claim.template_name.empty(); });
  return own + static_cast<double>(made);
}

// The virtual time that an operation takes at least.
double LengthOf(const Op& op) {
  if (const auto* sleep = std::get_if<SleepOp>(&op.action)) return SecondsOf(sleep->duration);
  const auto* pods = std::get_if<CreatePodsOp>(&op.action);
  if (pods == nullptr) return 0;
  if (pods->steady_state) return SecondsOf(pods->duration);
  const bool waits = !pods->skip_wait && pods->arrivals.per_second > 0;
  return waits ? static_cast<double>(pods->count) / static_cast<double>(pods->arrivals.per_second)
               : 0;
}

// `seconds` is the time from the churn's start to the end of the operations.
double ObjectsOf(const ChurnOp& op, double seconds) {
  double ticks = seconds / SecondsOf(op.interval);
  // Of recreate, that is how many it has at once.
  if (op.number > 0) ticks = std::min(ticks, static_cast<double>(op.number));
  return ticks * static_cast<double>(op.objects.size());
}

double ObjectsOf(const Op& op, double seconds_left) {
  if (const auto* churn = std::get_if<ChurnOp>(&op.action)) return ObjectsOf(*churn, seconds_left);
  if (const auto* pods = std::get_if<CreatePodsOp>(&op.action)) {
    return static_cast<double>(pods->count) * ObjectsPerPod(*pods);
  }
  if (const auto* nodes = std::get_if<CreateNodesOp>(&op.action)) {
    return static_cast<double>(nodes->count) * (nodes->allocatable.csi_node ? 2 : 1);
  }
  if (const auto* spaces = std::get_if<CreateNamespacesOp>(&op.action)) {
    return static_cast<double>(spaces->count);
  }
  if (const auto* any = std::get_if<CreateAnyOp>(&op.action)) {
    return static_cast<double>(any->count);
  }
  if (const auto* groups = std::get_if<CreatePodGroupsOp>(&op.action)) {
    return static_cast<double>(groups->count);
  }
  if (const auto* claims = std::get_if<CreateResourceClaimsOp>(&op.action)) {
    return static_cast<double>(claims->count);
  }
  return 0;
}

}  // namespace

ObjectEstimate EstimateObjects(const Workload& workload) {
  ObjectEstimate estimate;
  double seconds_left = 0;
  for (size_t i = workload.ops.size(); i-- > 0;) {
    const Op& op = workload.ops[i];
    seconds_left += LengthOf(op);
    const double objects = ObjectsOf(op, seconds_left);
    estimate.objects += objects;
    if (objects < estimate.of_largest) continue;
    estimate.of_largest = objects;
    estimate.line = op.line;
    estimate.opcode = op.opcode.c_str();
  }
  return estimate;
}

Status CheckObjectCount(const TestCase& test_case, const Workload& workload) {
  const ObjectEstimate estimate = EstimateObjects(workload);
  const auto limit = static_cast<double>(kObjectCountMax);
  if (estimate.objects <= limit) return Status::Ok();
  return Error(test_case.file + ":" + std::to_string(estimate.line) + ": " + estimate.opcode +
               ": workload " + test_case.name + "/" + workload.name + " would hold some " +
               NumberText(estimate.objects) + " objects, expected at most " +
               CountText(kObjectCountMax));
}

}  // namespace schedq
