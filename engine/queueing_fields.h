// What a queue knows of a pod beyond the pod itself.
#pragma once

#include <cstdint>

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"

namespace schedq {

struct QueueingFields {
  // First what is asked of many pods at once, for an event or a flush: half a line.
  PluginSet unschedulable_plugins;
  PluginSet pending_plugins;
  MaybeInstant first_attempt;
  PluginId gating_plugin = kNoPlugin;
  bool was_flushed = false;
  // The pod got another priority while it was in flight and, told anew, in a queue as well: there
  // it stands by the older one until its next update.
  bool stands_by_older_priority = false;
  uint32_t attempts = 0;

  uint32_t unschedulable_count = 0;
  uint32_t consecutive_errors = 0;
  Instant timestamp{};
  MaybeInstant backoff_expiration;  // Cached until the next failure.
  MaybeInstant flush_timestamp;

  PluginSet Rejectors() const { return unschedulable_plugins | pending_plugins; }
};
static_assert(sizeof(QueueingFields) == 64, "every queued pod has these: they fit one line");

}  // namespace schedq
