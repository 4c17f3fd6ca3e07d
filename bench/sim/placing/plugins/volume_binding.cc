// A node must reach the volumes to which the pod's claims are bound. A claim that waits for a pod
// is bound to the smallest volume that suits it and that the node reaches, or one is made for it.
//
// Reserve promises the volumes. PreBind stores what was promised, a call each, and then waits until
// the claims are bound: it looks once a second, for ten minutes.
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
#include "bench/sim/cluster/storage.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/look_up_volumes.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

// Upstream's, and the default of its bindTimeoutSeconds.
constexpr Duration kPoll = std::chrono::seconds(1);
constexpr Duration kPatience = std::chrono::minutes(10);

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

bool AreBound(const Storage& storage, const VolumeDecision& volumes) {
  const auto is_bound = [&](const std::string& name) {
    const ClusterVolumeClaimRef claim = storage.FindClaim(name);
    return claim != nullptr && claim->is_bound;
  };
  return std::all_of(volumes.bindings.begin(), volumes.bindings.end(),
                     [&](const auto& binding) { return is_bound(binding.claim); }) &&
         std::all_of(volumes.to_provision.begin(), volumes.to_provision.end(), is_bound);
}

class VolumeBinding final : public PlacingPlugin {
 public:
  explicit VolumeBinding(VolumeBook* book) : book_(*book) {}

  std::string_view name() const override { return "VolumeBinding"; }
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
    if (waited == Duration(0)) return kPoll;
    const bool goes_on = waited < kPatience && cluster.FindPod(pod.number) != nullptr &&
                         !AreBound(cluster.storage(), *decision.volumes);
    return goes_on ? kPoll : Duration(0);
  }

  bool PreBind(size_t step, Cluster* cluster, const ClusterPod& pod,
               const Decision& decision) const override {
    const VolumeDecision& volumes = *decision.volumes;
    const size_t bindings = volumes.bindings.size();
    if (step == Stores(volumes)) {
      return cluster->FindPod(pod.number) != nullptr && AreBound(cluster->storage(), volumes);
    }
    if (cluster->IsOut()) return false;
    if (step < bindings) return StoreBinding(&cluster->storage(), volumes.bindings[step]);
    return StoreSelection(&cluster->storage(), volumes.to_provision[step - bindings],
                          decision.node);
  }

 private:
  VolumeBook& book_;
};

}  // namespace

PlacingPluginRef MakeVolumeBinding(const PlacingTools& tools) {
  return std::make_unique<VolumeBinding>(tools.volumes);
}

}  // namespace schedq
