#include "bench/sim/real/requeue_meter.h"

namespace schedq {
namespace {

// What the calling thread handles; no meter: no change.
struct Handled {
  RequeueMeter* meter = nullptr;
  Instant delivered{};
};
thread_local Handled handled;

}  // namespace

RequeueMeter::Handling::Handling(RequeueMeter* meter, Instant delivered) {
  handled = {meter, delivered};
}

RequeueMeter::Handling::~Handling() { handled = {}; }

void RequeueObserver::OnMoved(const PodRef&, Place from, Place to, EventLabel) {
  if (!InPool(from) || handled.meter == nullptr) return;
  if (to != Place::kActive && !InBackoff(to)) return;
  handled.meter->requeued_.Record(handled.meter->pace_.Now() - handled.delivered);
}

}  // namespace schedq
