#include "bench/sim/placing/rejectors.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace schedq {

Rejectors::Rejectors(const PlacingPlugins& placing, const PluginRegistry& registry) {
  for (const auto& each : placing) {
    if (!each->filters()) continue;
    const std::optional<PluginId> plugin = registry.Find(std::string(each->name()));
    plugins_[static_cast<size_t>(each->id())] = plugin.value_or(kNoPlugin);
  }
}

PluginSet Rejectors::Of(const Decision& decision) const {
  PluginSet rejectors;
  for (uint32_t rest = decision.rejectors; rest != 0; rest &= rest - 1) {
    const PluginId plugin = plugins_[static_cast<size_t>(std::countr_zero(rest))];
    if (plugin != kNoPlugin) rejectors.Insert(plugin);
  }
  return rejectors;
}

}  // namespace schedq
