// What a queue knows of a pod beyond the pod itself.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/time.h"
#include "engine/plugin.h"

namespace schedq {

struct QueueingFields {
  Instant timestamp{};
  uint32_t attempts = 0;
  uint32_t unschedulable_count = 0;
  uint32_t consecutive_errors = 0;
  std::optional<Instant> backoff_expiration;  // Cached until the next failure.
  PluginSet unschedulable_plugins;
  PluginSet pending_plugins;
  PluginId gating_plugin = kNoPlugin;
  bool was_flushed = false;
  std::optional<Instant> flush_timestamp;
  std::optional<Instant> first_attempt;

  PluginSet Rejectors() const { return unschedulable_plugins | pending_plugins; }
};

}  // namespace schedq
