#include "bench/program/reports/real_progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

#include "engine/base/time/time.h"
#include "engine/queue_answers.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr Duration kRateInterval = std::chrono::milliseconds(500);

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::string RealProgress::Text(const RunProgress& progress) {
  // The next run has begun.
  if (progress.elapsed < since_.elapsed) since_ = {};
  const Duration passed = progress.elapsed - since_.elapsed;
  if (passed >= kRateInterval) {
    pods_per_second_ = static_cast<double>(progress.bound - since_.bound) / Seconds(passed);
    since_ = progress;
  }
  const QueueCounts& queue = progress.queue;
  return fmt::format("{:.1f} s, {} pods/s, active {}, backoff {}, unschedulable {}, gated {}",
                     Seconds(progress.elapsed), CountText(static_cast<uint64_t>(pods_per_second_)),
                     CountText(queue.active), CountText(queue.backoff + queue.error_backoff),
                     CountText(queue.unschedulable), CountText(queue.gated));
}

}  // namespace schedq
