#include "bench/sim/cluster/claim_controller.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "engine/pod.h"

namespace schedq {

std::vector<std::string> ClaimNamesOf(const ClusterPod& pod) {
  std::vector<std::string> names;
  for (const std::string& claim : pod.claims) {
    names.push_back(QualifiedName(pod.namespace_name, claim));
  }
  for (const GeneratedClaim& claim : pod.generated_claims) {
    if (!claim.claim_name.empty()) {
      names.push_back(QualifiedName(pod.namespace_name, claim.claim_name));
    }
  }
  if (!pod.extended_claim.empty()) {
    names.push_back(QualifiedName(pod.namespace_name, pod.extended_claim));
  }
  return names;
}

std::string ExtendedClaimName(const ClusterPod& pod) {
  return pod.name + "-extended-resources-" + std::to_string(pod.number);
}

ClaimController::ClaimController(Cluster* cluster, ClaimControllerOptions options)
    : cluster_(cluster), options_(std::move(options)), idle_workers_(options_.workers) {
  cluster_->Watch([this](const ClusterChange& change) { OnChange(change); });
}

void ClaimController::OnChange(const ClusterChange& change) {
  if (change.resource != Resource::kPod) return;
  if (change.action == Action::kAdd) {
    GenerateClaims(*change.pod_after);
  } else if (change.action == Action::kDelete) {
    CleanUp(*change.pod_before);
  }
}

void ClaimController::GenerateClaims(const ClusterPod& pod) {
  auto generated = std::make_shared<std::vector<GeneratedClaim>>();
  std::deque<Call> calls;
  for (const PodClaim& wanted : pod.spec().claims) {
    if (wanted.template_name.empty()) continue;
    calls.push_back([this, wanted, generated, number = pod.number] {
      const ClusterPodRef owner = cluster_->FindPod(number);
      if (owner == nullptr) return false;
      const auto* claim_template =
          cluster_->FindClaimTemplate(QualifiedName(owner->namespace_name, wanted.template_name));
      if (claim_template == nullptr) return false;
      auto claim = std::make_shared<ClusterClaim>();
      claim->namespace_name = owner->namespace_name;
      claim->name = cluster_->GenerateName(owner->name + '-' + wanted.name + '-');
      claim->labels = claim_template->claim_labels;
      claim->spec = claim_template->spec;
      claim->owner_pod = number;
      claim->owner_pod_name = owner->name;
      generated->push_back({wanted.name, claim->name});
      return cluster_->CreateClaim(std::move(claim)).ok();
    });
  }
  if (calls.empty()) return;
  calls.push_back([this, generated, number = pod.number] {
    return cluster_->UpdatePod(number, [&](ClusterPod* after) {
      after->generated_claims = *generated;
      return !generated->empty();
    });
  });
  Enqueue(std::move(calls));
}

void ClaimController::CleanUp(const ClusterPod& pod) {
  std::deque<Call> calls;
  for (const std::string& name : ClaimNamesOf(pod)) CleanUpClaim(name, pod.number, &calls);
  // The pod may have gone before it was told of the claim.
  if (!pod.device_requests.empty() && pod.extended_claim.empty()) {
    CleanUpClaim(QualifiedName(pod.namespace_name, ExtendedClaimName(pod)), pod.number, &calls);
  }
  if (!calls.empty()) Enqueue(std::move(calls));
}

void ClaimController::CleanUpClaim(const std::string& name, uint64_t pod, std::deque<Call>* calls) {
  calls->push_back([this, name, pod] {
    const ClusterClaimRef claim = cluster_->FindClaim(name);
    if (claim == nullptr) return false;
    const auto& reserved = claim->reserved_for;
    if (std::find(reserved.begin(), reserved.end(), pod) == reserved.end()) return false;
    return cluster_->UpdateClaim(name, [&](ClusterClaim* after) {
      auto& left = after->reserved_for;
      left.erase(std::remove(left.begin(), left.end(), pod), left.end());
      if (!left.empty()) return;
      after->allocation = nullptr;
    });
  });
  calls->push_back([this, name, pod] {
    const ClusterClaimRef claim = cluster_->FindClaim(name);
    if (claim == nullptr || claim->owner_pod != pod) return false;
    return cluster_->Delete({"ResourceClaim", claim->namespace_name, claim->name});
  });
}

void ClaimController::Enqueue(std::deque<Call> calls) {
  waiting_.push_back(std::move(calls));
  StartWorkers();
}

void ClaimController::StartWorkers() {
  while (idle_workers_ > 0 && !waiting_.empty()) {
    --idle_workers_;
    std::deque<Call> calls = std::move(waiting_.front());
    waiting_.pop_front();
    RunItem(std::move(calls));
  }
}

// Each call takes effect after its latency.
void ClaimController::RunItem(std::deque<Call> calls) {
  if (calls.empty()) {
    ++idle_workers_;
    StartWorkers();
    return;
  }
  Clock& clock = cluster_->clock();
  clock.At(clock.Now() + options_.call_latency(), [this, calls = std::move(calls)]() mutable {
    calls.front()();
    calls.pop_front();
    RunItem(std::move(calls));
  });
}

}  // namespace schedq
