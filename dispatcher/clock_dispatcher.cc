#include "dispatcher/clock_dispatcher.h"

#include <algorithm>
#include <optional>

#include "dispatcher/api_call.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

ClockDispatcher::ClockDispatcher(const CallQueueOptions& options, ApiSink* sink)
    : clock_(*options.clock), sink_(*sink), queue_(options.DrivenBy(this)) {}

ClockDispatcher::~ClockDispatcher() {
  is_ending_ = true;
  clock_.Cancel(timer_);
}

void ClockDispatcher::WakeBy(Instant at) {
  at = std::max(at, clock_.Now());
  if (at >= wake_ || is_ending_) return;
  clock_.Cancel(timer_);
  wake_ = at;
  timer_ = clock_.At(at, [this] { Dispatch(); });
}

void ClockDispatcher::Dispatch() {
  wake_ = Instant::max();
  const std::optional<Instant> next = queue_.Dispatch(clock_.Now(), [this](const ApiCall& call) {
    sink_.Execute(call, [this, object = call.object](const Status& status) {
      queue_.Complete(object, status);
    });
  });
  if (next && *next != Instant::max()) WakeBy(*next);
}

}  // namespace schedq
