#include "hints/claim_index.h"

#include <algorithm>
#include <mutex>

#include "engine/base/result.h"

namespace schedq {
namespace {

// The names of the claims that the pod uses, each once. Views into the pod.
std::vector<std::string_view> ClaimsOf(const Pod* pod) {
  std::vector<std::string_view> names;
  if (pod == nullptr) return names;
  const auto add = [&](const std::string& name) {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
    names.push_back(name);
  };
  for (const std::string& name : pod->claims) add(name);
  for (const GeneratedClaim& generated : pod->generated_claims) add(generated.claim_name);
  return names;
}

bool Holds(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

ClaimIndex::~ClaimIndex() {
  for (const auto& [claim, pods] : pods_by_claim_) {
    for (const PodId pod : pods) pod_names_->Release(pod);
  }
}

void ClaimIndex::Update(const Pod* before, const Pod* after) {
  const std::vector<std::string_view> old_claims = ClaimsOf(before);
  const std::vector<std::string_view> new_claims = ClaimsOf(after);
  if (old_claims == new_claims) return;
  const Pod& pod = after != nullptr ? *after : *before;
  SCHEDQ_CHECK(before == nullptr || after == nullptr ||
                   (before->name == after->name && before->namespace_name == after->namespace_name),
               "both are versions of one pod");

  // Held during this call, so that the number stays the pod's.
  const PodId id = pod_names_->Acquire(pod.namespace_name, pod.name);
  {
    std::lock_guard lock(mutex_);
    for (const std::string_view claim : old_claims) {
      if (!Holds(new_claims, claim)) Erase({pod.namespace_name, claim}, id);
    }
    for (const std::string_view claim : new_claims) {
      if (!Holds(old_claims, claim)) Insert({pod.namespace_name, claim}, id);
    }
  }
  pod_names_->Release(id);
}

size_t ClaimIndex::size() const {
  std::shared_lock lock(mutex_);
  return pods_by_claim_.size();
}

void ClaimIndex::Insert(ObjectNameView claim, PodId pod) {
  auto found = pods_by_claim_.find(claim);
  if (found == pods_by_claim_.end()) {
    found = pods_by_claim_.try_emplace(ObjectName(claim)).first;
  }
  pod_names_->Retain(pod);
  found->second.push_back(pod);
}

void ClaimIndex::Erase(ObjectNameView claim, PodId pod) {
  const auto found = pods_by_claim_.find(claim);
  SCHEDQ_CHECK(found != pods_by_claim_.end(), "`before` is what the pod is listed under");
  std::vector<PodId>& pods = found->second;
  const auto listed = std::find(pods.begin(), pods.end(), pod);
  SCHEDQ_CHECK(listed != pods.end(), "`before` is what the pod is listed under");
  *listed = pods.back();
  pods.pop_back();
  pod_names_->Release(pod);
  if (pods.empty()) pods_by_claim_.erase(found);
}

}  // namespace schedq
