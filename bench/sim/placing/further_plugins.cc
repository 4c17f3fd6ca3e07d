#include "bench/sim/placing/further_plugins.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/waiting_pods.h"
#include "engine/plugin.h"
#include "hints/plugin.h"

namespace schedq {
namespace {

class WaitingOf final : public WaitingPodsOfPlugin {
 public:
  WaitingOf(size_t self, WaitingPods* waiting) : self_(self), waiting_(*waiting) {}

  void Allow(std::string_view uid) override { waiting_.Allow(std::string(uid), self_); }
  void Reject(std::string_view uid) override { waiting_.Reject(std::string(uid), self_); }

 private:
  const size_t self_;
  WaitingPods& waiting_;
};

class FurtherPlugin final : public PlacingPlugin {
 public:
  explicit FurtherPlugin(const Plugin* plugin) : plugin_(*plugin) {}

  std::string_view name() const override { return plugin_.name; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kPermit, ExtensionPoint::kReserve);
  }
  PermitAnswer Permit(const ClusterPod& pod, const Decision& decision, size_t self,
                      WaitingPods* waiting) const override {
    WaitingOf own(self, waiting);
    return plugin_.permit(pod, decision.node, &own);
  }
  void Unreserve(const ClusterPod& pod, const Decision&, size_t) const override {
    if (plugin_.unreserve) plugin_.unreserve(pod);
  }

 private:
  const Plugin& plugin_;
};

}  // namespace

std::vector<PlacingPluginRef> FurtherPlacingPlugins(const PluginRegistry& registry) {
  std::vector<PlacingPluginRef> plugins;
  for (int id = 0; id < registry.size(); ++id) {
    const Plugin& plugin = registry.plugin(static_cast<PluginId>(id));
    if (plugin.permit) plugins.push_back(std::make_unique<FurtherPlugin>(&plugin));
  }
  return plugins;
}

}  // namespace schedq
