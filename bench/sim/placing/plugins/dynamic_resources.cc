// A pod with claims goes to a node that has the devices of all of them.
//
// Filter allocates devices of the node to the claims that have none, Reserve promises them, and
// PreBind stores each claim with them: the finalizer, then allocation and reservation.
// A pod whose claim is missing, or is promised to another pod, or whose claim's class is missing,
// fits nowhere for now. Claims that are allocated already restrict the nodes.
// An error of the allocation, such as a selector that cannot be evaluated, fails the attempt.
// A claim with devices whose binding conditions are not met makes its pod wait in PreBind. A driver
// that fails them, or a time that is over, fails the binding. The next attempt finds that no node
// will do, so that the claim gives up its devices.
// Score: nodes that give earlier alternatives of prioritized lists are better.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/cluster/claim_controller.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/binding_conditions.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/normalize.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

// Makes the claim for the pod's extended resources.
bool CreateExtendedClaim(Cluster* cluster, const ClaimDecision& claim, const ClusterPod& pod) {
  auto made = std::make_shared<ClusterClaim>();
  made->namespace_name = pod.namespace_name;
  made->name = ExtendedClaimName(pod);
  made->spec = *claim.made;
  made->owner_pod = pod.number;
  made->owner_pod_name = pod.name;
  made->is_extended = true;
  return cluster->CreateClaim(std::move(made)).ok();
}

template <typename T>
void AddOnce(const T& user, std::vector<T>* users) {
  if (std::find(users->begin(), users->end(), user) == users->end()) users->push_back(user);
}

// Stores allocation and reservation. The API server's version decides. False: the claim is
// allocated elsewhere or not any more, or used by as many pods as may use it.
bool StoreAllocation(Cluster* cluster, const ClaimDecision& claim, const ClusterClaim& stored,
                     const ClusterPod& pod, const std::string& node_name) {
  if (claim.allocates() == (stored.allocation != nullptr)) return false;
  if (!claim.allocates()) {
    const ClusterNodeRef node = cluster->FindNode(node_name);
    if (node == nullptr || !IsAvailableOn(*stored.allocation, *node)) return false;
    if (stored.reserved_for.size() >= kReservationsMax) return false;
  }
  return cluster->UpdateClaim(claim.claim, [&](ClusterClaim* after) {
    if (claim.allocates()) after->allocation = claim.allocation;
    if (claim.awaits_devices && after->allocated_at == Instant{}) {
      after->allocated_at = cluster->clock().Now();
    }
    if (!claim.group.empty()) {
      AddOnce(claim.group, &after->reserved_groups);
    } else {
      AddOnce(pod.number, &after->reserved_for);
    }
  });
}

// Takes one of the calls that store the claim for the pod. False: the claim or the pod is deleted,
// the API server is out, or what is stored forbids it.
bool StoreClaim(size_t step, Cluster* cluster, const ClaimDecision& claim, const ClusterPod& pod,
                const std::string& node_name) {
  if (cluster->faults().Refuses(CallKind::kClaim)) return false;
  // A reservation for a pod that is gone would stay for ever.
  const ClusterPodRef owner = cluster->FindPod(pod.number);
  if (owner == nullptr || owner->deleting) return false;
  if (claim.creates()) {
    if (step == 0) return CreateExtendedClaim(cluster, claim, pod);
    --step;
  }
  const ClusterClaimRef stored = cluster->FindClaim(claim.claim);
  if (stored == nullptr) return false;
  if (claim.finalizes()) {
    if (step == 0) {
      if (stored->allocation != nullptr) return false;
      return cluster->UpdateClaim(claim.claim,
                                  [](ClusterClaim* after) { after->has_finalizer = true; });
    }
    --step;
  }
  if (step == 0) return StoreAllocation(cluster, claim, *stored, pod, node_name);
  return cluster->UpdatePod(pod.number, [&](ClusterPod* after) {
    after->extended_claim = stored->name;
    return true;
  });
}

// Of all claims of the pod, in their order: the first that is not ready decides.
BindingState StateOfAll(const Cluster& cluster, const Decision& decision) {
  for (const ClaimDecision& each : decision.claims) {
    const ClusterClaimRef claim = cluster.FindClaim(each.claim);
    if (claim == nullptr) return BindingState::kFailed;
    if (claim->allocation == nullptr) return BindingState::kWaiting;
    const BindingState state = BindingStateOf(*claim->allocation, claim->device_statuses);
    if (state == BindingState::kReady) continue;
    const bool is_late =
        HasBindingTimedOut(*claim->allocation, claim->allocated_at, cluster.clock().Now());
    return is_late ? BindingState::kFailed : state;
  }
  return BindingState::kReady;
}

bool AwaitsDevices(const Decision& decision) {
  return std::any_of(decision.claims.begin(), decision.claims.end(),
                     [](const ClaimDecision& each) { return each.awaits_devices; });
}

size_t StoreSteps(const Decision& decision) {
  size_t steps = 0;
  for (const ClaimDecision& claim : decision.claims) steps += claim.steps();
  return steps;
}

// What an allocation of before makes of the attempt: its driver has failed, or is too late.
bool IsStuck(const ClusterClaim& claim, Instant now) {
  if (claim.allocation == nullptr) return false;
  const BindingState state = BindingStateOf(*claim.allocation, claim.device_statuses);
  if (state != BindingState::kWaiting) return state == BindingState::kFailed;
  return HasBindingTimedOut(*claim.allocation, claim.allocated_at, now);
}

// The place of the alternative that the allocation has of the request; nullopt: none.
std::optional<int64_t> ChosenOf(const DeviceRequest& request, const DeviceAllocation& allocation) {
  for (size_t i = 0; i < request.alternatives.size(); ++i) {
    const std::string name = request.name + '/' + request.alternatives[i].name;
    for (const AllocatedDevice& device : allocation.devices) {
      if (device.request == name) return static_cast<int64_t>(i);
    }
  }
  return std::nullopt;
}

int64_t ScoreOf(const ClaimSpec& claim, const DeviceAllocation& allocation) {
  int64_t score = 0;
  for (const DeviceRequest& request : claim.requests) {
    if (!request.is_list) continue;
    if (const auto chosen = ChosenOf(request, allocation)) score += kAlternativesMax - *chosen;
  }
  return score;
}

class DynamicResources final : public PlacingPlugin {
 public:
  explicit DynamicResources(ClaimBook* claims) : book_(*claims) {}

  std::string_view name() const override { return "DynamicResources"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kScore,
                           ExtensionPoint::kReserve, ExtensionPoint::kPreBind);
  }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const ClusterPod& pod = *attempt->pod;
    if (pod.claims.empty() && pod.generated_claims.empty() && pod.device_requests.empty()) {
      return PreFilterAnswer::kSkip;
    }
    attempt->claims = book_.WantedBy(pod, attempt->group_cycle);
    if (attempt->claims == nullptr) return PreFilterAnswer::kReject;
    const auto& allocated = attempt->claims->allocated;
    std::vector<bool>& is_stuck = attempt->claims->is_stuck;
    for (const auto& each : allocated) is_stuck.push_back(IsStuck(*each.claim, attempt->now));
    if (std::find(is_stuck.begin(), is_stuck.end(), true) != is_stuck.end()) {
      return PreFilterAnswer::kFilter;
    }
    const bool is_everywhere =
        std::all_of(allocated.begin(), allocated.end(), [](const WantedClaims::Allocated& each) {
          return each.allocation->node_name.empty() && each.allocation->node_term.empty();
        });
    return attempt->claims->prepared.claims.empty() && is_everywhere ? PreFilterAnswer::kSkip
                                                                     : PreFilterAnswer::kFilter;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    WantedClaims& claims = *attempt.claims;
    if (claims.nodes) candidates &= MaskOf(&claims, nodes, block);
    if (claims.allocated.empty()) return candidates;
    uint64_t left = 0;
    ForEachNode(block, candidates, [&](uint32_t slot) {
      bool is_available = true;
      for (size_t i = 0; i < claims.allocated.size(); ++i) {
        if (!claims.is_stuck[i] &&
            IsAvailableOn(*claims.allocated[i].allocation, nodes.node(slot))) {
          continue;
        }
        is_available = false;
        claims.keeps_away[i] = true;
      }
      if (is_available) left |= BitOfNode(slot);
    });
    return left;
  }

  // Those of the only nodes with devices that are in the block.
  static uint64_t MaskOf(WantedClaims* claims, const NodeColumns& nodes, size_t block) {
    if (!claims->slots) {
      claims->slots.emplace();
      for (const std::string& name : *claims->nodes) {
        if (const auto slot = nodes.SlotOf(name)) claims->slots->push_back(*slot);
      }
    }
    uint64_t mask = 0;
    for (const uint32_t slot : *claims->slots) {
      if (slot / kNodesPerBlock == block) mask |= BitOfNode(slot);
    }
    return mask;
  }

  bool FiltersOne(const PlacingAttempt& attempt) const override {
    return !attempt.claims->prepared.claims.empty();
  }

  bool FilterOne(const PlacingAttempt& attempt, const ClusterNode& node) const override {
    WantedClaims* const claims = attempt.claims.get();
    return claims->error.empty() && book_.OfferOf(claims, node).found();
  }

  int32_t weight() const override { return kWeight; }

  bool PreScore(PlacingAttempt* attempt, const NodeColumns&) const override {
    return attempt->claims != nullptr && attempt->claims->prepared.has_alternatives;
  }

  void Score(const PlacingAttempt& attempt, const NodeColumns& nodes,
             std::span<const uint32_t> slots, std::span<int64_t> scores) const override {
    WantedClaims* const claims = attempt.claims.get();
    int64_t of_allocated = 0;
    for (const WantedClaims::Allocated& each : claims->allocated) {
      of_allocated += ScoreOf(each.claim->spec, *each.allocation);
    }
    for (size_t i = 0; i < slots.size() && claims->error.empty(); ++i) {
      const AllocationOutcome& offer = book_.OfferOf(claims, nodes.node(slots[i]));
      if (!offer.found()) continue;
      scores[i] = of_allocated;
      for (size_t j = 0; j < claims->unallocated.size(); ++j) {
        scores[i] += ScoreOf(claims->unallocated[j]->spec, offer.allocations[j]);
      }
    }
    NormalizeToMost(scores);
  }

  bool Choose(const PlacingAttempt& attempt, Decision* decision) const override {
    if (attempt.claims == nullptr) return true;
    auto claims = book_.Pick(attempt.claims.get(), *attempt.node);
    if (!claims) return false;
    decision->claims = std::move(*claims);
    return true;
  }

  bool Reserve(const ClusterPod&, const Decision& decision) const override {
    return decision.claims.empty() || book_.Promise(decision.claims);
  }

  // The promises of claims that are stored end when the informers deliver these.
  void Unreserve(const ClusterPod&, const Decision& decision, size_t steps) const override {
    for (const ClaimDecision& claim : decision.claims) {
      if (claim.steps() == 0) {
        // Nothing of it is ever stored.
        book_.Release(claim);
      } else if (steps < claim.steps()) {
        steps = 0;
        book_.Release(claim);
      } else {
        steps -= claim.steps();
      }
    }
  }

  // The last step is the wait for devices.
  size_t PreBindPreFlight(const Decision& decision) const override {
    return StoreSteps(decision) + (AwaitsDevices(decision) ? 1 : 0);
  }

  Duration PreBindDelay(size_t step, Duration waited, const Cluster& cluster, const ClusterPod&,
                        const Decision& decision) const override {
    if (!AwaitsDevices(decision) || step < StoreSteps(decision)) return Duration(0);
    if (StateOfAll(cluster, decision) != BindingState::kWaiting) return Duration(0);
    return waited < kBindingTimeout ? kBindingPoll : Duration(0);
  }

  bool PreBind(size_t step, Cluster* cluster, const ClusterPod& pod,
               const Decision& decision) const override {
    for (const ClaimDecision& claim : decision.claims) {
      if (step < claim.steps()) return StoreClaim(step, cluster, claim, pod, decision.node);
      step -= claim.steps();
    }
    if (StateOfAll(*cluster, decision) == BindingState::kReady) return true;
    // The pod holds none of its claims any more, which keep their devices until it is tried again.
    std::vector<std::string> claims;
    for (const ClaimDecision& claim : decision.claims) {
      if (claim.group.empty()) claims.push_back(claim.claim);
    }
    if (!cluster->faults().Refuses(CallKind::kClaim)) {
      cluster->DropReservations(claims, pod.number);
    }
    return false;
  }

 private:
  static constexpr int32_t kWeight = 2;

  ClaimBook& book_;
};

}  // namespace

PlacingPluginRef MakeDynamicResources(const PlacingTools& tools) {
  return std::make_unique<DynamicResources>(tools.claims);
}

}  // namespace schedq
