// Where a pod goes after a verdict.
//
// Purpose: the rules of docs/semantics.md for one pod, written as if there were no other thread.
// They write a change and nothing else.
// Threads: any; a change belongs to one thread. PreEnqueue is asked here.
#pragma once

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/lockfree/pods/pod_change.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Runs PreEnqueue. A rejection makes its plugin a rejector and the gating plugin, and clears the
// mark of the flush; passing clears the gating plugin only.
template <template <typename> class Atom>
bool PassesPreEnqueue(const QueueOptions& options, PodChange<Atom>* change) {
  const PluginId gating = change->facts().fields.gating_plugin;
  const PluginId rejected = options.pre_enqueue->Check(*change->facts().pod, gating);
  if (rejected == kNoPlugin) {
    change->pre_enqueue = PreEnqueueAnswer::kPassed;
    if (gating != kNoPlugin) change->Edit().fields.gating_plugin = kNoPlugin;
    return true;
  }
  change->pre_enqueue = PreEnqueueAnswer::kRejected;
  const QueueingFields& fields = change->facts().fields;
  if (!fields.Rejectors().Has(rejected)) change->newly_rejected = rejected;
  if (gating == rejected && fields.unschedulable_plugins.Has(rejected) && !fields.was_flushed) {
    return false;  // Nothing changes.
  }
  QueueingFields& edited = change->Edit().fields;
  edited.unschedulable_plugins.Insert(rejected);
  edited.gating_plugin = rejected;
  edited.was_flushed = false;
  return false;
}

// True also in the window in which backoff ends: windows are flushed whole.
template <template <typename> class Atom>
bool IsBackingOff(const QueueOptions& options, PodChange<Atom>* change) {
  const MaybeInstant expiration = change->facts().fields.backoff_expiration;
  if (!expiration) return false;
  const Instant now = change->Now(*options.clock);
  return *expiration >= (options.gates.PopFromBackoffQ() ? TruncateToSecond(now) : now);
}

// Sets the change's place, and what goes with it: the gating plugin, the ticket that it needs, the
// time of its first attempt.
template <template <typename> class Atom>
void DecidePlace(const QueueOptions& options, PodChange<Atom>* change, Verdict verdict,
                 bool skip_pre_enqueue) {
  if (verdict == Verdict::kSkip) {
    const bool is_gated = change->facts().fields.gating_plugin != kNoPlugin;
    change->place = is_gated ? Place::kGated : Place::kUnschedulable;
    return;
  }
  const bool backs_off = verdict == Verdict::kAfterBackoff && IsBackingOff(options, change);
  const bool asks = !skip_pre_enqueue && (!backs_off || options.gates.PopFromBackoffQ());
  if (asks && !PassesPreEnqueue(options, change)) {
    change->place = Place::kGated;
    return;
  }
  change->needs_ticket = true;
  if (backs_off) {
    // An error is a pod without rejectors, judged after PreEnqueue.
    const bool is_error = change->facts().fields.Rejectors().empty();
    change->place = is_error ? Place::kErrorBackoff : Place::kBackoff;
    return;
  }
  change->place = Place::kActive;
  if (!change->facts().fields.first_attempt) {
    change->Edit().fields.first_attempt = change->Now(*options.clock);
  }
}

}  // namespace schedq
