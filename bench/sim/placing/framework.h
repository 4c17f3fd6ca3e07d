// The placing plugins of one profile of the scheduler, and what they say together.
//
// Purpose: knows which plugins have something to say at which extension point, and asks them there
// in their order; gives back in the reverse one.
// Threads: immutable once made; its functions as those of plugins.
// Invariant: a plugin's number is its place in the order, and its bit in Decision::rejectors.
// Memory: the plugins, and a few words for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/workload/scheduler_settings.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/budget_book.h"
#include "bench/sim/placing/claim_book.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/groups/group_book.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/pods_by_node.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "bench/sim/placing/resource_table.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "bench/sim/placing/waiting_pods.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {

// What plugins may know of the cluster, and how they are configured. The former outlives them.
struct PlacingTools {
  ResourceTable* resources = nullptr;
  ClaimBook* claims = nullptr;
  const PodsByNode* pods = nullptr;
  PodBook* pod_book = nullptr;
  VolumeBook* volumes = nullptr;
  const BudgetBook* budgets = nullptr;
  GroupBook* groups = nullptr;  // Null: pods are placed one by one.
  bool places_by_topology = false;
  SchedulerProfile profile = {};
};

// Makes plugins, for instance those beside the built-in ones.
using PlacingPluginSource = std::function<std::vector<PlacingPluginRef>(const PlacingTools& tools)>;

// kube-scheduler's, as far as they are modelled, in the order in which they filter, with its
// default weights.
std::vector<PlacingPluginRef> BuiltinPlacingPlugins(const PlacingTools& tools);

// Those, and then the further ones.
inline PlacingPluginSource WithFurther(PlacingPluginSource first, PlacingPluginSource further) {
  return [first = std::move(first), further = std::move(further)](const PlacingTools& tools) {
    std::vector<PlacingPluginRef> plugins = first(tools);
    for (PlacingPluginRef& plugin : further(tools)) plugins.push_back(std::move(plugin));
    return plugins;
  };
}

// What all Permit plugins say together.
struct PermitOutcome {
  size_t rejector = WaitingPods::kAllowed;
  std::vector<WaitingPods::Wait> waits;  // None: the pod goes on, where nobody rejected.
};

class Framework {
 public:
  struct Numbered {
    const PlacingPlugin* plugin = nullptr;
    size_t number = 0;
    int32_t weight = 0;  // Of its scores.
  };

  // At most 64. The profile says which of them are asked where, and the weights of their scores.
  explicit Framework(std::vector<PlacingPluginRef> plugins, SchedulerProfile profile = {});

  const SchedulerProfile& profile() const { return profile_; }

  size_t size() const { return plugins_.size(); }
  const PlacingPlugin& plugin(size_t number) const { return *plugins_[number]; }
  std::optional<size_t> Find(std::string_view name) const;
  static uint64_t BitOf(size_t number) { return uint64_t{1} << number; }

  // Those that have something to say there.
  const std::vector<Numbered>& At(ExtensionPoint point) const {
    return by_point_[static_cast<size_t>(point)];
  }

  // All plugins or none. False: another thread was ahead.
  bool Reserve(const ClusterPod& pod, const Decision& decision) const;
  // In the reverse order, but for what the first `steps` steps of PreBind brought to the cluster.
  void Unreserve(const ClusterPod& pod, const Decision& decision, size_t steps) const;

  // The first rejection ends it. A pod that is to wait is known to `waiting`, any other is not.
  PermitOutcome Permit(const PodRef& pod, const Decision& decision, WaitingPods* waiting) const;

  // What PreBindPreFlight says: how many steps there are. None: the binding is sent at once.
  size_t PreBindSteps(const Decision& decision) const;
  // How long from now until the step may be taken; 0: now. The pod has waited so long for it.
  Duration PreBindDelay(size_t step, Duration waited, const Cluster& cluster, const ClusterPod& pod,
                        const Decision& decision) const;
  // Takes one of the steps, a call to the API server. False: the binding fails. On the cluster's
  // thread.
  bool PreBind(size_t step, Cluster* cluster, const ClusterPod& pod,
               const Decision& decision) const;

 private:
  // A step of PreBind: its plugin, and which of the plugin's steps it is. Null: there is none.
  struct PreBindStep {
    const PlacingPlugin* plugin = nullptr;
    size_t number = 0;
  };
  PreBindStep StepOf(size_t step, const Decision& decision) const;

  const std::vector<PlacingPluginRef> plugins_;
  const SchedulerProfile profile_;
  std::array<std::vector<Numbered>, kExtensionPointCount> by_point_;
};

}  // namespace schedq
