#include "dispatcher/api_call.h"

#include <algorithm>

namespace schedq {
namespace {

bool NominationIsNoOp(const CallContent& call) {
  return call.nomination() == nullptr || *call.nomination() == call.pod->nominated_node_name;
}

bool Contains(const CallContent& call, const ClaimAllocation& claim) {
  if (!call.placement.has_value()) return false;
  const std::vector<ClaimAllocation>& claims = call.placement->claims;
  return std::find(claims.begin(), claims.end(), claim) != claims.end();
}

bool ClaimsAreNoOp(const CallContent& call) {
  return !call.placement.has_value() || call.placement->claims.empty();
}

void MergePlacement(const CallContent& older, CallContent* newer) {
  if (!older.placement.has_value()) return;
  Placement& merged = newer->placement.Mutable();
  if (!merged.nomination) merged.nomination = older.placement->nomination;
  if (merged.node.empty()) merged.node = older.placement->node;
  for (const ClaimAllocation& claim : older.placement->claims) {
    if (!Contains(*newer, claim)) merged.claims.push_back(claim);
  }
}

// The call whose condition is lost if `older` is overwritten and the newer call fails.
Predecessor PredecessorBy(const CallContent& older) {
  if (older.placement.has_value() && older.placement->predecessor.listener != nullptr) {
    return older.placement->predecessor;
  }
  if (older.condition.kind == ConditionPatch::Kind::kKeep) return {};
  return {older.listener, older.tag};
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

std::string PodNameOf(const CallContent& call) {
  return call.pod != nullptr ? QualifiedName(*call.pod) : std::to_string(call.object);
}

bool IsSamePodByUid(const PodRef& a, const PodRef& b) {
  return a == nullptr || b == nullptr || a->uid == b->uid;
}

bool ConditionPatchIsNoOp(const ConditionPatch& patch, const Pod& pod) {
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

void MergeWhatIsMissing(const CallContent& older, CallContent* newer) {
  if (newer->condition.kind == ConditionPatch::Kind::kKeep) {
    newer->condition = older.condition;
    newer->sends_event = older.sends_event;
  }
  MergePlacement(older, newer);
}

void InheritWhatIsMissing(const CallContent& older, CallContent* newer) {
  if (!IsSamePod(older.pod, newer->pod)) return;
  const bool says_condition = newer->condition.kind != ConditionPatch::Kind::kKeep;
  if (newer->pod == nullptr) newer->pod = older.pod;
  if (older.type == newer->type) MergeWhatIsMissing(older, newer);
  if (says_condition) return;
  const Predecessor predecessor = PredecessorBy(older);
  if (predecessor.listener != nullptr) newer->placement.Mutable().predecessor = predecessor;
}

bool PatchIsNoOp(const CallContent& call) {
  return ConditionPatchIsNoOp(call.condition, *call.pod) && NominationIsNoOp(call) &&
         ClaimsAreNoOp(call);
}

bool IsNoOpAfter(const CallContent& done, const CallContent& call) {
  if (done.type != call.type) return IsNoOp(call);
  if (call.type == CallType::kBinding) return done.node() == call.node();
  if (call.type == CallType::kDeletion) return true;
  if (call.pod == nullptr) return false;
  // What `done` did not touch is as it was last seen.
  const bool keeps_condition = done.condition.kind == ConditionPatch::Kind::kKeep
                                   ? ConditionPatchIsNoOp(call.condition, *call.pod)
                                   : call.condition == done.condition;
  const bool keeps_nomination =
      done.nomination() == nullptr
          ? NominationIsNoOp(call)
          : call.nomination() != nullptr && *call.nomination() == *done.nomination();
  const bool keeps_claims =
      ClaimsAreNoOp(call) ||
      std::all_of(call.placement->claims.begin(), call.placement->claims.end(),
                  [&](const auto& claim) { return Contains(done, claim); });
  return keeps_condition && keeps_nomination && keeps_claims;
}

}  // namespace schedq
