#include "bench/sim/cluster/faults.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace schedq {

void Faults::Begin(const Fault& fault) {
  const auto begin = [this, fault] {
    const bool ends = fault.duration > Duration(0);
    under_way_.push_back({fault, ends ? clock_.Now() + fault.duration : Instant::max()});
  };
  if (fault.after <= Duration(0)) return begin();
  clock_.At(clock_.Now() + fault.after, begin);
}

void Faults::DropEnded() {
  std::erase_if(under_way_, [now = clock_.Now()](const UnderWay& each) { return each.end <= now; });
}

bool Faults::Refuses(CallKind call) {
  DropEnded();
  constexpr uint64_t kPercent = 100;
  for (const UnderWay& each : under_way_) {
    const Fault& fault = each.fault;
    if (fault.kind != FaultKind::kErrors || !fault.Hits(call)) continue;
    const auto percent = static_cast<uint64_t>(fault.percent);
    if (percent < kPercent && random_.Below(kPercent) >= percent) continue;
    has_refused_ = true;
    return true;
  }
  return false;
}

Instant Faults::DeliveryOf(Resource kind, Instant due) {
  if (under_way_.empty() && longest_lag_ == Duration(0)) return due;
  DropEnded();
  Instant at = due;
  for (const UnderWay& each : under_way_) {
    const Fault& fault = each.fault;
    if (fault.kind != FaultKind::kLag || fault.of != kind) continue;
    at += fault.delay;
    if (fault.jitter > Duration(0)) {
      at += Duration(
          static_cast<int64_t>(random_.Below(static_cast<uint64_t>(fault.jitter.count()))));
    }
  }
  Instant& last = last_delivery_[static_cast<size_t>(kind)];
  last = std::max(last, at);
  longest_lag_ = std::max(longest_lag_, last - due);
  return last;
}

Duration Faults::ControllerDelay() {
  DropEnded();
  Duration delay{};
  for (const UnderWay& each : under_way_) {
    if (each.fault.kind == FaultKind::kControllers) delay += each.fault.delay;
  }
  return delay;
}

}  // namespace schedq
