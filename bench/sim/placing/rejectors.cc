#include "bench/sim/placing/rejectors.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/base/result.h"

namespace schedq {

Rejectors::Rejectors(const Framework& placing, const PluginRegistry& registry) {
  for (size_t i = 0; i < placing.size(); ++i) {
    const std::optional<PluginId> plugin = registry.Find(placing.plugin(i).name());
    SCHEDQ_CHECK(plugin.has_value(), "each placing plugin has its queue-facing half");
    plugins_.push_back(*plugin);
  }
}

PluginSet Rejectors::Of(const Decision& decision) const {
  PluginSet rejectors;
  for (uint64_t left = decision.rejectors; left != 0; left &= left - 1) {
    rejectors.Insert(plugins_[static_cast<size_t>(std::countr_zero(left))]);
  }
  return rejectors;
}

}  // namespace schedq
