// A node must reach the volumes to which the pod's claims are bound. A claim that waits for a pod
// is bound to the smallest volume that suits it and that the node reaches, or one is made for it.
//
// Reserve promises the volumes. PreBind stores what was promised, a call each, and then waits until
// the claims are bound: it looks once a second, as long as bindTimeoutSeconds says. It fails at
// once where a claim has come to be bound to another volume than the promised one, where a volume
// that was made is not reached from the node, and where one of them, or the node, is gone.
// A claim that should be bound and is not keeps its pod from all nodes. Not modelled: the capacity
// of storage, and scores by it.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/cluster/storage.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/look_up_volumes.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "engine/base/time/time.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

constexpr Duration kPoll = std::chrono::seconds(1);

size_t Stores(const VolumeDecision& volumes) {
  return volumes.bindings.size() + volumes.to_provision.size();
}

// False: the volume is gone, or another claim's.
bool StoreBinding(Storage* storage, const VolumeDecision::Binding& binding) {
  const ClusterVolumeRef volume = storage->FindVolume(binding.volume);
  if (volume == nullptr) return false;
  if (!volume->spec.claim.empty()) return volume->spec.claim == binding.claim;
  return storage->UpdateVolume(binding.volume,
                               [&](ClusterVolume* after) { after->spec.claim = binding.claim; });
}

// False: the claim is gone, or its volume is made for another node.
bool StoreSelection(Storage* storage, const std::string& name, const std::string& node) {
  const ClusterVolumeClaimRef claim = storage->FindClaim(name);
  if (claim == nullptr) return false;
  if (!claim->selected_node.empty()) return claim->selected_node == node;
  return storage->UpdateClaim(name,
                              [&](ClusterVolumeClaim* after) { after->selected_node = node; });
}

enum class BindingState : uint8_t {
  kBound,
  kNotYet,
  kFailed,  // What the attempt assumed does not hold: it is to be repeated.
};

BindingState StateOf(const Storage& storage, const VolumeDecision::Binding& binding,
                     const ClusterNode& node) {
  const ClusterVolumeRef volume = storage.FindVolume(binding.volume);
  const ClusterVolumeClaimRef claim = storage.FindClaim(binding.claim);
  const bool holds = volume != nullptr && claim != nullptr && volume->spec.claim == binding.claim &&
                     MeetsAnyTerm(volume->spec.node_terms, node);
  if (!holds) return BindingState::kFailed;
  if (!claim->is_bound) return BindingState::kNotYet;
  return claim->spec.volume_name == binding.volume ? BindingState::kBound : BindingState::kFailed;
}

// Of a claim whose volume is made for the node.
BindingState StateOf(const Storage& storage, const std::string& name, const ClusterNode& node) {
  const ClusterVolumeClaimRef claim = storage.FindClaim(name);
  if (claim == nullptr || claim->selected_node != node.name) return BindingState::kFailed;
  if (!claim->spec.volume_name.empty()) {
    const ClusterVolumeRef volume = storage.FindVolume(claim->spec.volume_name);
    if (volume == nullptr) return BindingState::kNotYet;
    if (!MeetsAnyTerm(volume->spec.node_terms, node)) return BindingState::kFailed;
  }
  return claim->is_bound ? BindingState::kBound : BindingState::kNotYet;
}

// The first that is not bound decides.
BindingState StateOf(const Cluster& cluster, const ClusterPod& pod, const Decision& decision) {
  const ClusterNodeRef node = cluster.FindNode(decision.node);
  if (node == nullptr || cluster.FindPod(pod.number) == nullptr) return BindingState::kFailed;
  for (const VolumeDecision::Binding& binding : decision.volumes->bindings) {
    const BindingState state = StateOf(cluster.storage(), binding, *node);
    if (state != BindingState::kBound) return state;
  }
  for (const std::string& claim : decision.volumes->to_provision) {
    const BindingState state = StateOf(cluster.storage(), claim, *node);
    if (state != BindingState::kBound) return state;
  }
  return BindingState::kBound;
}

class VolumeBinding final : public PlacingPlugin {
 public:
  VolumeBinding(VolumeBook* book, Duration patience) : book_(*book), patience_(patience) {}

  std::string_view name() const override { return "VolumeBinding"; }
  bool rejects_for_pods() const override { return false; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kReserve,
                           ExtensionPoint::kPreBind);
  }

  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    const WantedVolumes* const wanted = LookUpVolumes(&book_, attempt);
    if (wanted == nullptr) return PreFilterAnswer::kSkip;
    if (wanted->lacks_claim || wanted->is_unbound) return PreFilterAnswer::kReject;
    const bool asks = wanted->lacks_volume || !wanted->reached.empty() || !wanted->waiting.empty();
    return asks ? PreFilterAnswer::kFilter : PreFilterAnswer::kSkip;
  }

  uint64_t Filter(const PlacingAttempt& attempt, const NodeColumns& nodes, size_t block,
                  uint64_t candidates) const override {
    return book_.WithVolumes(*attempt.volumes, nodes, block, candidates);
  }

  bool Choose(const PlacingAttempt& attempt, Decision* decision) const override {
    if (attempt.volumes == nullptr || attempt.volumes->waiting.empty()) return true;
    auto volumes = book_.BindingsOn(*attempt.volumes, decision->slot);
    if (!volumes) return false;
    decision->volumes = std::make_shared<const VolumeDecision>(std::move(*volumes));
    return true;
  }

  bool Reserve(const ClusterPod&, const Decision& decision) const override {
    return decision.volumes == nullptr || book_.Promise(*decision.volumes, decision.node);
  }

  // The promises of what is stored end when the informers deliver it.
  void Unreserve(const ClusterPod&, const Decision& decision, size_t steps) const override {
    if (decision.volumes != nullptr) book_.Release(*decision.volumes, steps);
  }

  // The last step is the wait.
  size_t PreBindPreFlight(const Decision& decision) const override {
    return decision.volumes == nullptr ? 0 : Stores(*decision.volumes) + 1;
  }

  Duration PreBindDelay(size_t step, Duration waited, const Cluster& cluster, const ClusterPod& pod,
                        const Decision& decision) const override {
    if (step < Stores(*decision.volumes)) return Duration(0);
    const Duration left = std::min(kPoll, patience_ - waited);
    // It waits before it looks for the first time, too.
    if (waited == Duration(0)) return left;
    return StateOf(cluster, pod, decision) == BindingState::kNotYet ? left : Duration(0);
  }

  bool PreBind(size_t step, Cluster* cluster, const ClusterPod& pod,
               const Decision& decision) const override {
    const VolumeDecision& volumes = *decision.volumes;
    const size_t bindings = volumes.bindings.size();
    if (step == Stores(volumes)) return StateOf(*cluster, pod, decision) == BindingState::kBound;
    if (cluster->faults().Refuses(CallKind::kVolume)) return false;
    if (step < bindings) return StoreBinding(&cluster->storage(), volumes.bindings[step]);
    return StoreSelection(&cluster->storage(), volumes.to_provision[step - bindings],
                          decision.node);
  }

 private:
  VolumeBook& book_;
  const Duration patience_;
};

}  // namespace

PlacingPluginRef MakeVolumeBinding(const PlacingTools& tools) {
  return std::make_unique<VolumeBinding>(tools.volumes, tools.profile.volume_bind_timeout);
}

}  // namespace schedq
