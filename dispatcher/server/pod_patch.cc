#include "dispatcher/server/pod_patch.h"

#include <string>
#include <utility>

namespace schedq {
namespace {

bool SetUnscheduled(const ConditionPatch& patch, Pod* pod) {
  const PodCondition* shown = UnscheduledCondition(*pod);
  if (shown != nullptr && shown->reason == patch.reason && shown->message == patch.message) {
    return false;
  }
  RemoveScheduledCondition(pod);
  pod->conditions.push_back({"PodScheduled", "False", std::string(patch.reason), patch.message});
  return true;
}

bool ClearUnscheduled(Pod* pod) {
  const PodCondition* shown = UnscheduledCondition(*pod);
  if (shown == nullptr || shown->reason != kNotReadyReason) return false;
  RemoveScheduledCondition(pod);
  return true;
}

}  // namespace

void RemoveScheduledCondition(Pod* pod) {
  std::erase_if(pod->conditions,
                [](const PodCondition& condition) { return condition.type == "PodScheduled"; });
}

bool ApplyPatch(const ApiCall& patch, Pod* pod) {
  if (!pod->node_name.empty()) return false;
  bool is_changed = false;
  switch (patch.condition.kind) {
    case ConditionPatch::Kind::kKeep:
      break;
    case ConditionPatch::Kind::kSet:
      is_changed = SetUnscheduled(patch.condition, pod);
      break;
    case ConditionPatch::Kind::kClear:
      is_changed = ClearUnscheduled(pod);
      break;
  }
  if (const std::string* node = patch.nomination(); node != nullptr) {
    is_changed = std::exchange(pod->nominated_node_name, *node) != *node || is_changed;
  }
  return is_changed;
}

}  // namespace schedq
