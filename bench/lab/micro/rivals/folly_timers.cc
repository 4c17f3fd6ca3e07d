#include "bench/lab/micro/rivals/folly_timers.h"

#include <folly/io/async/AsyncTimeout.h>
#include <folly/io/async/EventBase.h>

#include "engine/base/result.h"

namespace folly {

// The files of folly that the rival needs refer to this symbol for event loops, which do not exist
// here. It is weak, so that the definition of a whole folly replaces it.
__attribute__((weak)) event_base* EventBase::getLibeventBase() const {
  SCHEDQ_CHECK(false, "a timeout without an event loop has no libevent");
  return nullptr;
}

}  // namespace folly

namespace schedq {
namespace {

// The wheel asks this event whether its timeout is scheduled.
void Mark(folly::AsyncTimeout* timeout, bool is_scheduled) {
  auto& flags = folly::event_ref_flags(timeout->getEvent()->getEvent()).get();
  flags = static_cast<short>(is_scheduled ? flags | EVLIST_TIMEOUT : flags & ~EVLIST_TIMEOUT);
}

}  // namespace

void ManualTimeouts::Fire() {
  Mark(timeout_, false);
  timeout_->timeoutExpired();
}

void ManualTimeouts::attachTimeoutManager(folly::AsyncTimeout* timeout, InternalEnum) {
  timeout_ = timeout;
}

bool ManualTimeouts::scheduleTimeout(folly::AsyncTimeout* timeout, timeout_type) {
  Mark(timeout, true);
  return true;
}

void ManualTimeouts::cancelTimeout(folly::AsyncTimeout* timeout) { Mark(timeout, false); }

}  // namespace schedq
