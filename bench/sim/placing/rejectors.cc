#include "bench/sim/placing/rejectors.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace schedq {

Rejectors::Rejectors(const Framework& placing, const PluginRegistry& registry) {
  for (size_t i = 0; i < placing.size(); ++i) {
    plugins_.push_back(registry.Find(placing.plugin(i).name()).value_or(kNoPlugin));
  }
}

PluginSet Rejectors::Of(const Decision& decision) const {
  PluginSet rejectors;
  for (uint64_t left = decision.rejectors; left != 0; left &= left - 1) {
    rejectors = rejectors | Of(static_cast<size_t>(std::countr_zero(left)));
  }
  return rejectors;
}

}  // namespace schedq
