// Where a pod goes after a verdict.
//
// Purpose: the rules of docs/semantics.md for one pod, written as if there were no other thread.
// They work on a draft and change nothing else.
// Threads: any; a draft belongs to one thread. PreEnqueue is asked here.
#pragma once

#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/lockfree/pods/draft.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Runs PreEnqueue. A rejection makes its plugin a rejector and the gating plugin, and clears the
// mark of the flush; passing clears the gating plugin only.
template <template <typename> class Atom>
bool PassesPreEnqueue(const QueueOptions& options, Draft<Atom>* draft) {
  const PluginId gating = draft->facts().fields.gating_plugin;
  const PluginId rejected = options.pre_enqueue->Check(*draft->facts().pod, gating);
  if (rejected == kNoPlugin) {
    draft->pre_enqueue = PreEnqueueAnswer::kPassed;
    if (gating != kNoPlugin) draft->Edit().fields.gating_plugin = kNoPlugin;
    return true;
  }
  draft->pre_enqueue = PreEnqueueAnswer::kRejected;
  const QueueingFields& fields = draft->facts().fields;
  if (!fields.Rejectors().Has(rejected)) draft->newly_rejected = rejected;
  if (gating == rejected && fields.unschedulable_plugins.Has(rejected) && !fields.was_flushed) {
    return false;  // Nothing changes.
  }
  QueueingFields& edited = draft->Edit().fields;
  edited.unschedulable_plugins.Insert(rejected);
  edited.gating_plugin = rejected;
  edited.was_flushed = false;
  return false;
}

// True also in the window in which backoff ends: windows are flushed whole.
template <template <typename> class Atom>
bool IsBackingOff(const QueueOptions& options, Draft<Atom>* draft) {
  const MaybeInstant expiration = draft->facts().fields.backoff_expiration;
  if (!expiration) return false;
  const Instant now = draft->Now(*options.clock);
  return *expiration >= (options.gates.PopFromBackoffQ() ? TruncateToSecond(now) : now);
}

// Sets the draft's place, and what goes with it: the gating plugin, the ticket that it needs, the
// time of its first attempt.
template <template <typename> class Atom>
void DecidePlace(const QueueOptions& options, Draft<Atom>* draft, Verdict verdict,
                 bool skip_pre_enqueue) {
  if (verdict == Verdict::kSkip) {
    const bool is_gated = draft->facts().fields.gating_plugin != kNoPlugin;
    draft->place = is_gated ? Place::kGated : Place::kUnschedulable;
    return;
  }
  const bool backs_off = verdict == Verdict::kAfterBackoff && IsBackingOff(options, draft);
  const bool asks = !skip_pre_enqueue && (!backs_off || options.gates.PopFromBackoffQ());
  if (asks && !PassesPreEnqueue(options, draft)) {
    draft->place = Place::kGated;
    return;
  }
  draft->needs_ticket = true;
  if (backs_off) {
    // An error is a pod without rejectors, judged after PreEnqueue.
    const bool is_error = draft->facts().fields.Rejectors().empty();
    draft->place = is_error ? Place::kErrorBackoff : Place::kBackoff;
    return;
  }
  draft->place = Place::kActive;
  if (!draft->facts().fields.first_attempt) {
    draft->Edit().fields.first_attempt = draft->Now(*options.clock);
  }
}

}  // namespace schedq
