#include "dispatcher/api_call.h"

#include <algorithm>

namespace schedq {
namespace {

bool ConditionIsNoOp(const ConditionPatch& patch, const Pod& pod) {
  const PodCondition* shown = UnscheduledCondition(pod);
  switch (patch.kind) {
    case ConditionPatch::Kind::kKeep:
      return true;
    case ConditionPatch::Kind::kSet:
      return shown != nullptr && shown->reason == patch.reason && shown->message == patch.message;
    case ConditionPatch::Kind::kClear:
      return shown == nullptr || shown->reason != kNotReadyReason;
  }
  return false;
}

bool NominationIsNoOp(const ApiCall& call) {
  return !call.nomination || *call.nomination == call.pod->nominated_node_name;
}

bool Contains(const std::vector<ClaimAllocation>& claims, const ClaimAllocation& claim) {
  return std::find(claims.begin(), claims.end(), claim) != claims.end();
}

}  // namespace

std::string_view CallTypeName(CallType type) {
  switch (type) {
    case CallType::kBinding:
      return "pod_binding";
    case CallType::kDeletion:
      return "pod_deletion";
    case CallType::kStatusPatch:
      return "pod_status_patch";
  }
  return "";
}

const PodCondition* UnscheduledCondition(const Pod& pod) {
  for (const PodCondition& condition : pod.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "False") return &condition;
  }
  return nullptr;
}

void Merge(const ApiCall& older, ApiCall* newer) {
  if (newer->condition.kind == ConditionPatch::Kind::kKeep) {
    newer->condition = older.condition;
    newer->sends_event = older.sends_event;
  }
  if (!newer->nomination) newer->nomination = older.nomination;
  for (const ClaimAllocation& claim : older.claims) {
    if (!Contains(newer->claims, claim)) newer->claims.push_back(claim);
  }
  if (newer->node.empty()) newer->node = older.node;
}

bool IsNoOp(const ApiCall& call) {
  if (call.type != CallType::kStatusPatch || call.pod == nullptr) return false;
  return ConditionIsNoOp(call.condition, *call.pod) && NominationIsNoOp(call) &&
         call.claims.empty();
}

bool IsNoOpAfter(const ApiCall& done, const ApiCall& call) {
  if (done.type != call.type) return IsNoOp(call);
  if (call.type == CallType::kBinding) return done.node == call.node;
  if (call.type == CallType::kDeletion) return true;
  if (call.pod == nullptr) return false;
  // What `done` did not touch is as it was last seen.
  const bool keeps_condition = done.condition.kind == ConditionPatch::Kind::kKeep
                                   ? ConditionIsNoOp(call.condition, *call.pod)
                                   : call.condition == done.condition;
  const bool keeps_nomination =
      done.nomination ? call.nomination == done.nomination : NominationIsNoOp(call);
  const bool keeps_claims =
      std::all_of(call.claims.begin(), call.claims.end(),
                  [&](const ClaimAllocation& claim) { return Contains(done.claims, claim); });
  return keeps_condition && keeps_nomination && keeps_claims;
}

}  // namespace schedq
