#include "bench/sim/cluster/claim_controller.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "bench/format/objects/api_object.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {
namespace {

// As of kube's controllers: what fails is tried again after such a while, each time twice as long.
constexpr Duration kFirstBackoff = std::chrono::milliseconds(5);
constexpr Duration kLastBackoff = std::chrono::seconds(1000);
// Upstream's integration tests, scheduler_perf among them, run the collector so.
constexpr int kCollectors = 1;

}  // namespace

std::vector<std::string> ClaimNamesOf(const ClusterPod& pod) {
  std::vector<std::string> names;
  // Several entries of a pod may stand for one claim.
  const auto add = [&](const std::string& claim) {
    if (claim.empty()) return;
    std::string name = QualifiedName(pod.namespace_name, claim);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  };
  for (const std::string& claim : pod.claims) add(claim);
  for (const GeneratedClaim& claim : pod.generated_claims) add(claim.claim_name);
  add(pod.extended_claim);
  return names;
}

std::vector<std::string> GroupClaimNamesOf(const ClusterPod& pod) {
  std::vector<std::string> names;
  if (pod.group_claims.empty()) return names;
  for (const PodClaim& claim : pod.spec().claims) {
    const auto& groups = pod.group_claims;
    if (std::find(groups.begin(), groups.end(), claim.name) == groups.end()) continue;
    std::string name = claim.claim_name;
    for (const GeneratedClaim& generated : pod.generated_claims) {
      if (name.empty() && generated.pod_claim_name == claim.name) name = generated.claim_name;
    }
    if (!name.empty()) names.push_back(QualifiedName(pod.namespace_name, name));
  }
  return names;
}

std::string ExtendedClaimName(const ClusterPod& pod) {
  return pod.name + "-extended-resources-" + std::to_string(pod.number);
}

ClaimController::ClaimController(Cluster* cluster, const ClaimControllerOptions& options)
    : cluster_(cluster),
      work_(&cluster->clock(), options.workers, options.call_latency),
      garbage_(&cluster->clock(), kCollectors, options.call_latency) {
  cluster_->Watch([this](const ClusterChange& change) { OnChange(change); });
}

void ClaimController::OnChange(const ClusterChange& change) {
  if (change.resource == Resource::kPodGroup) {
    const auto* before = static_cast<const ClusterGroup*>(change.objects.before.get());
    const auto* after = static_cast<const ClusterGroup*>(change.objects.after.get());
    if (before == nullptr) return GenerateGroupClaims(*after);
    if (after == nullptr) return CleanUpGroup(*before);
    if (before->generated_claims != after->generated_claims) TellMembers(*after);
    return;
  }
  if (change.resource != Resource::kPod) return;
  if (change.action == Action::kAdd) {
    GenerateClaims(*change.pod_after);
  } else if (change.action == Action::kDelete) {
    CleanUp(*change.pod_before);
  }
}

std::shared_ptr<ClusterClaim> ClaimController::ClaimFrom(const std::string& namespace_name,
                                                         const std::string& owner,
                                                         const PodClaim& wanted) const {
  const auto* claim_template =
      cluster_->FindClaimTemplate(QualifiedName(namespace_name, wanted.template_name));
  if (claim_template == nullptr) return nullptr;
  auto claim = std::make_shared<ClusterClaim>();
  claim->namespace_name = namespace_name;
  claim->name = cluster_->GenerateName(owner + '-' + wanted.name + '-');
  claim->labels = claim_template->claim_labels;
  claim->spec = claim_template->spec;
  return claim;
}

void ClaimController::Generate(const OrderRef& order) {
  std::deque<Call> calls;
  for (const PodClaim& wanted : order->wanted) {
    calls.push_back([this, order, wanted] { return MakeClaim(order.get(), wanted); });
  }
  calls.push_back([this, order] {
    if (!order->has_owner()) {
      // Its deletion did not know of them.
      order->clean_up(order->made);
      return false;
    }
    if (!std::exchange(order->has_failed, false)) return order->tell_owner(order->made);
    Clock& clock = cluster_->clock();
    clock.At(clock.Now() + order->backoff, [this, order] { Generate(order); });
    order->backoff = std::min<Duration>(2 * order->backoff, kLastBackoff);
    return false;
  });
  work_.Add(std::move(calls));
}

bool ClaimController::MakeClaim(Order* order, const PodClaim& wanted) {
  const bool is_made =
      std::any_of(order->made.begin(), order->made.end(),
                  [&](const GeneratedClaim& each) { return each.pod_claim_name == wanted.name; });
  if (is_made || order->has_failed || !order->has_owner()) return false;
  auto claim = order->make(wanted);
  const std::string name = claim != nullptr ? claim->name : "";
  order->has_failed = claim == nullptr || !cluster_->CreateClaim(std::move(claim)).ok();
  if (!order->has_failed) order->made.push_back({wanted.name, name});
  return !order->has_failed;
}

void ClaimController::GenerateClaims(const ClusterPod& pod) {
  auto order = std::make_shared<Order>();
  bool has_templates = false;
  for (const PodClaim& wanted : pod.spec().claims) {
    if (wanted.template_name.empty()) continue;
    has_templates = true;
    const auto& groups = pod.group_claims;
    if (std::find(groups.begin(), groups.end(), wanted.name) != groups.end()) continue;
    order->wanted.push_back(wanted);
  }
  if (!has_templates) return;
  order->backoff = kFirstBackoff;
  order->has_owner = [this, number = pod.number] { return cluster_->FindPod(number) != nullptr; };
  order->make = [this, number = pod.number](const PodClaim& wanted) {
    const ClusterPodRef owner = cluster_->FindPod(number);
    auto claim = ClaimFrom(owner->namespace_name, owner->name, wanted);
    if (claim == nullptr) return claim;
    claim->owner_pod = number;
    claim->owner_pod_name = owner->name;
    return claim;
  };
  order->tell_owner = [this, number = pod.number](std::vector<GeneratedClaim> claims) {
    const ClusterPodRef owner = cluster_->FindPod(number);
    const ClusterGroupRef group =
        owner->group_claims.empty() ? nullptr : cluster_->FindGroup(GroupKeyOf(*owner));
    if (group != nullptr) {
      claims.insert(claims.end(), group->generated_claims.begin(), group->generated_claims.end());
    }
    return cluster_->UpdatePod(number, [&](ClusterPod* after) {
      const bool is_new = !claims.empty() && after->generated_claims != claims;
      after->generated_claims = claims;
      return is_new;
    });
  };
  order->clean_up = [this, number = pod.number, space = pod.namespace_name](const auto& made) {
    std::deque<Call> calls;
    for (const GeneratedClaim& each : made) {
      CleanUpClaim(QualifiedName(space, each.claim_name), number, &calls);
    }
    if (!calls.empty()) work_.Add(std::move(calls));
  };
  Generate(order);
}

void ClaimController::GenerateGroupClaims(const ClusterGroup& group) {
  auto order = std::make_shared<Order>();
  const GroupKey key = group.group->key;
  for (const PodClaim& wanted : group.spec.claims) {
    if (!wanted.template_name.empty()) order->wanted.push_back(wanted);
  }
  if (order->wanted.empty()) return;
  order->backoff = kFirstBackoff;
  order->has_owner = [this, key] { return cluster_->FindGroup(key) != nullptr; };
  order->make = [this, key](const PodClaim& wanted) {
    auto claim = ClaimFrom(key.namespace_name, key.name, wanted);
    if (claim != nullptr) claim->owner_group = QualifiedName(key.namespace_name, key.name);
    return claim;
  };
  order->tell_owner = [this, key](const auto& made) { return cluster_->SetGroupClaims(key, made); };
  order->clean_up = [this, key](const auto& made) {
    const std::string owner = QualifiedName(key.namespace_name, key.name);
    for (const GeneratedClaim& each : made) {
      Collect(QualifiedName(key.namespace_name, each.claim_name),
              [owner](const ClusterClaim& claim) { return claim.owner_group == owner; });
    }
  };
  Generate(order);
}

void ClaimController::TellMembers(const ClusterGroup& group) {
  for (const auto& [number, pod] : cluster_->pods()) {
    const bool is_member = pod->group_name == group.group->key.name &&
                           pod->namespace_name == group.group->key.namespace_name;
    if (!is_member || pod->group_claims.empty()) continue;
    work_.Add({[this, number = pod->number, key = group.group->key] {
      const ClusterGroupRef newest = cluster_->FindGroup(key);
      if (newest == nullptr) return false;
      return cluster_->UpdatePod(number, [&](ClusterPod* after) {
        bool is_new = false;
        for (const GeneratedClaim& claim : newest->generated_claims) {
          auto& known = after->generated_claims;
          if (std::find(known.begin(), known.end(), claim) != known.end()) continue;
          known.push_back(claim);
          is_new = true;
        }
        return is_new;
      });
    }});
  }
}

void ClaimController::CleanUpGroup(const ClusterGroup& group) {
  const std::string owner = QualifiedName(group.group->key.namespace_name, group.group->key.name);
  const auto is_garbage = [owner](const ClusterClaim& claim) { return claim.owner_group == owner; };
  for (const auto& [name, claim] : cluster_->claims()) {
    const auto& groups = claim->reserved_groups;
    if (std::find(groups.begin(), groups.end(), owner) != groups.end()) {
      work_.Add({[this, claim_name = name, owner] {
        return Release(claim_name,
                       [&](ClusterClaim* after) { std::erase(after->reserved_groups, owner); });
      }});
    }
    if (is_garbage(*claim)) Collect(name, is_garbage);
  }
}

bool ClaimController::Release(const std::string& name,
                              const std::function<void(ClusterClaim*)>& release) {
  bool is_unused = false;
  const bool is_there = cluster_->UpdateClaim(name, [&](ClusterClaim* after) {
    release(after);
    is_unused = after->reserved_for.empty() && after->reserved_groups.empty();
    if (is_unused) after->allocation = nullptr;
  });
  const ClusterClaimRef released = cluster_->FindClaim(name);
  if (is_unused && released->has_finalizer) {
    work_.Add({[this, name] { return RemoveFinalizer(name); }});
  }
  return is_there;
}

bool ClaimController::RemoveFinalizer(const std::string& name) {
  const ClusterClaimRef claim = cluster_->FindClaim(name);
  if (claim == nullptr || !claim->has_finalizer) return false;
  const bool is_used = !claim->reserved_for.empty() || !claim->reserved_groups.empty();
  if (is_used || (claim->allocation != nullptr && !claim->deleting)) return false;
  if (claim->deleting) {
    return cluster_->Delete({"ResourceClaim", claim->namespace_name, claim->name});
  }
  return cluster_->UpdateClaim(name, [](ClusterClaim* after) { after->has_finalizer = false; });
}

void ClaimController::Collect(const std::string& name,
                              std::function<bool(const ClusterClaim&)> is_garbage) {
  const ClusterClaimRef known = cluster_->FindClaim(name);
  if (known == nullptr || !is_garbage(*known)) return;
  const auto read = [] { return true; };
  garbage_.Add({read, [this, name, is_garbage = std::move(is_garbage)] {
                  const ClusterClaimRef claim = cluster_->FindClaim(name);
                  if (claim == nullptr || claim->deleting || !is_garbage(*claim)) return false;
                  if (!claim->has_finalizer) {
                    return cluster_->Delete({"ResourceClaim", claim->namespace_name, claim->name});
                  }
                  work_.Add({[this, name] { return RemoveFinalizer(name); }});
                  return cluster_->UpdateClaim(name,
                                               [](ClusterClaim* after) { after->deleting = true; });
                }});
}

void ClaimController::CleanUp(const ClusterPod& pod) {
  std::deque<Call> calls;
  for (const std::string& name : ClaimNamesOf(pod)) CleanUpClaim(name, pod.number, &calls);
  // The pod may have gone before it was told of the claim.
  if (!pod.device_requests.empty() && pod.extended_claim.empty()) {
    CleanUpClaim(QualifiedName(pod.namespace_name, ExtendedClaimName(pod)), pod.number, &calls);
  }
  if (!calls.empty()) work_.Add(std::move(calls));
}

void ClaimController::CleanUpClaim(const std::string& name, uint64_t pod, std::deque<Call>* calls) {
  calls->push_back([this, name, pod] {
    const ClusterClaimRef claim = cluster_->FindClaim(name);
    if (claim == nullptr) return false;
    const auto& reserved = claim->reserved_for;
    if (std::find(reserved.begin(), reserved.end(), pod) == reserved.end()) return false;
    return Release(name, [&](ClusterClaim* after) { std::erase(after->reserved_for, pod); });
  });
  Collect(name, [pod](const ClusterClaim& claim) { return claim.owner_pod == pod; });
}

}  // namespace schedq
