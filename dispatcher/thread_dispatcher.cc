#include "dispatcher/thread_dispatcher.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "dispatcher/api_call.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {
namespace {

// While closing, the thread looks this often whether the last call has ended.
constexpr Duration kLookWhileClosing = std::chrono::milliseconds(1);
// A sleep without a call that waits.
constexpr Duration kLongSleep = std::chrono::hours(1);

int64_t Nanoseconds(Instant at) { return at.time_since_epoch().count(); }

}  // namespace

ThreadDispatcher::ThreadDispatcher(const CallQueueOptions& options, ApiSink* sink)
    : clock_(*options.clock),
      sink_(*sink),
      queue_(options.DrivenBy(this)),
      thread_([this] { Run(); }) {}

ThreadDispatcher::~ThreadDispatcher() { Close(); }

void ThreadDispatcher::Close() {
  queue_.Close();
  is_closing_.store(true);
  WakeBy(Instant::min() + Duration(1));
  if (thread_.joinable()) thread_.join();
}

void ThreadDispatcher::WakeBy(Instant at) {
  wakes_.fetch_add(1);
  if (Nanoseconds(at) < sleeps_until_.load()) Seam<std::atomic>::WakeOne(wakes_);
}

void ThreadDispatcher::Run() {
  for (;;) {
    const uint32_t seen = wakes_.load();
    const std::optional<Instant> next = Dispatch();
    const Instant now = clock_.Now();
    if (is_closing_.load()) {
      const bool has_landed = under_way_->load() == 0 && queue_.InFlight() == 0;
      if (has_landed && queue_.HasSkippedAll()) return;
      SleepUntil(now + kLookWhileClosing, seen);
    } else {
      // No other thread dispatches, so there is a next instant.
      SleepUntil(std::min(next.value_or(now), now + kLongSleep), seen);
    }
  }
}

std::optional<Instant> ThreadDispatcher::Dispatch() {
  return queue_.Dispatch(clock_.Now(), [this](const ApiCall& call) {
    under_way_->fetch_add(1);
    try {
      sink_.Execute(call,
                    [this, under_way = under_way_, object = call.object](const Status& status) {
                      queue_.Complete(object, status);
                      under_way->fetch_sub(1);  // From here on the dispatcher may be gone.
                    });
    } catch (...) {
      under_way_->fetch_sub(1);  // The sink does not answer.
      throw;
    }
  });
}

void ThreadDispatcher::SleepUntil(Instant at, uint32_t seen) {
  const Duration left = at - clock_.Now();
  if (left <= Duration(0)) return;
  sleeps_until_.store(Nanoseconds(at));
  Seam<std::atomic>::Wait(wakes_, seen, std::chrono::steady_clock::now() + left);
  sleeps_until_.store(kAwake);
}

}  // namespace schedq
