// What a queue knows of a pod beyond the pod itself.
#pragma once

#include <cstdint>

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"

namespace schedq {

struct QueueingFields {
  // First what an event or a flush reads of many pods: half a line.
  PluginSet unschedulable_plugins;
  PluginSet pending_plugins;
  MaybeInstant first_attempt;
  PluginId gating_plugin = kNoPlugin;
  bool was_flushed = false;
  // The pod got another priority while it was in flight and, because it was added again, in a queue
  // too. The queue orders it by the older priority until the pod's next update.
  bool stands_by_older_priority = false;
  uint32_t attempts = 0;

  uint32_t unschedulable_count = 0;
  uint32_t consecutive_errors = 0;
  Instant timestamp{};
  MaybeInstant backoff_expiration;  // Cached until the next failure.
  MaybeInstant flush_timestamp;

  PluginSet Rejectors() const { return unschedulable_plugins | pending_plugins; }
};
static_assert(sizeof(QueueingFields) == 64, "every queued pod has these fields: they fit one line");

}  // namespace schedq
