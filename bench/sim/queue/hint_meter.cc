#include "bench/sim/queue/hint_meter.h"

#include <utility>

namespace schedq {
namespace {

// Written and read by the thread that it belongs to.
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
