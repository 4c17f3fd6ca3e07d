#include "bench/sim/queue/hint_meter.h"

#include <utility>

#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {
namespace {

// Only its own thread writes and reads it.
thread_local MonotonicTime hint_time;

}  // namespace

Plugin HintMeter::Meter(Plugin plugin) {
  for (EventRegistration& registration : plugin.events) {
    registration.hint = [this, ask = std::move(registration.hint)](const Pod& pod,
                                                                   const ObjectChange& change) {
      ++asked_;
      hint_time += cost_;
      return ask ? ask(pod, change) : Hint::kQueue;
    };
  }
  return plugin;
}

MonotonicTime HintMeter::Now() { return hint_time; }

}  // namespace schedq
