#include "bench/sim/calls/call_runner.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "bench/format/workload/fault.h"
#include "bench/sim/cluster/faults.h"

namespace schedq {
namespace {

constexpr std::array kBackoff = {std::chrono::milliseconds(10), std::chrono::milliseconds(50),
                                 std::chrono::milliseconds(250)};
constexpr int kJitterParts = 10;  // Up to a tenth.

bool IsRepeated(CallKind kind) {
  return kind == CallKind::kBind || kind == CallKind::kPatch || kind == CallKind::kGroup;
}

}  // namespace

Status CallRunner::RunAtOnce(CallKind kind) const {
  return cluster_.faults().Refuses(kind) ? Status(Error(kApiServerError)) : Status::Ok();
}

void CallRunner::Try(Call call, Duration wait) {
  Clock& clock = cluster_.clock();
  const Duration latency = cluster_.processors().BeginCall() + call.latency.Draw(&random_);
  clock.At(clock.Now() + wait + latency,
           [this, call = std::move(call)]() mutable { End(std::move(call)); });
}

void CallRunner::End(Call call) {
  if (!cluster_.faults().Refuses(call.kind)) return call.act(Status::Ok());
  const auto refusals = static_cast<size_t>(call.refusals++);
  if (!IsRepeated(call.kind) || refusals == kBackoff.size())
    return call.act(Error(kApiServerError));
  const Duration backoff = kBackoff[refusals];
  const auto jitter = static_cast<uint64_t>((backoff / kJitterParts).count());
  Clock& clock = cluster_.clock();
  clock.At(clock.Now() + backoff + Duration(static_cast<int64_t>(random_.Below(jitter))),
           [this, call = std::move(call)]() mutable {
             Try(std::move(call), take_token_ ? take_token_() : Duration(0));
           });
}

}  // namespace schedq
