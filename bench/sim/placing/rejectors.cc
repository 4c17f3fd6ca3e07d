#include "bench/sim/placing/rejectors.h"

#include <cstddef>
#include <optional>
#include <string>

#include "engine/base/result.h"

namespace schedq {

Rejectors::Rejectors(const PlacingPlugins& placing, const PluginRegistry& registry) {
  for (size_t i = 0; i < kPlacingPlugins; ++i) {
    const std::optional<PluginId> plugin = registry.Find(std::string(placing[i]->name()));
    SCHEDQ_CHECK(plugin.has_value(), "each placing plugin has its queue-facing half");
    plugins_[i] = *plugin;
  }
}

PluginSet Rejectors::Of(const Decision& decision) const {
  PluginSet rejectors;
  for (size_t i = 0; i < kPlacingPlugins; ++i) {
    if ((decision.rejectors >> i & 1) != 0) rejectors.Insert(plugins_[i]);
  }
  return rejectors;
}

}  // namespace schedq
