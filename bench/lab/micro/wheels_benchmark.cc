// Timers without calls: the product's wheel, an ordered map and folly's wheel.
//
//        10k timers, delays of up to five seconds
//                    |
//                    v
//   T1 ------> +-----------+
//              |   wheel   |      schedule, overwrite or cancel each timer once, in random order;
//              +-----------+      or advance: all expire, after delays of up to 50 ms
//
// Time: wall time of the operations / timers. It includes filing the timers of the inbox, but not
// the wait for delays to pass.
// Answer: the number of timers that expire at the end.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/path_case.h"
#include "bench/lab/micro/rivals/wheel_contestants.h"
#include "bench/lab/micro/suites.h"
#include "engine/base/random.h"

namespace schedq {
namespace {

enum class WheelOperation : uint8_t { kSchedule, kOverwrite, kCancel, kAdvance };
constexpr const char* kWheelOperationNames[] = {"schedule", "overwrite", "cancel", "advance"};

constexpr uint32_t kDelayMaxMs = 5000;
constexpr uint32_t kShortDelayMaxMs = 50;

template <typename Wheel>
class WheelRun {
 public:
  WheelRun(WheelOperation operation, uint32_t timers) : operation_(operation), order_(timers) {
    std::iota(order_.begin(), order_.end(), 0);
    wheel_.Reserve(timers);
    // All timers are scheduled and expire once before the measurement, so that memory has grown.
    ScheduleAll(kDelayMaxMs);
    wheel_.FileInbox();
    is_warm_ = wheel_.ExpireAll() == static_cast<int64_t>(timers);
    if (operation != WheelOperation::kSchedule) {
      ScheduleAll(operation == WheelOperation::kAdvance ? kShortDelayMaxMs : kDelayMaxMs);
      wheel_.FileInbox();
    }
    if (operation == WheelOperation::kAdvance) wheel_.PassDelays(kShortDelayMaxMs);
    random_.Shuffle(order_);
    delays_ = Delays(kDelayMaxMs);
  }

  void Run() {
    switch (operation_) {
      case WheelOperation::kSchedule:
      case WheelOperation::kOverwrite:
        for (size_t i = 0; i < order_.size(); ++i) wheel_.Schedule(order_[i], delays_[i]);
        return wheel_.FileInbox();
      case WheelOperation::kCancel:
        for (const uint32_t timer : order_) wheel_.Cancel(timer);
        return wheel_.FileInbox();
      case WheelOperation::kAdvance:
        expired_ = wheel_.Advance();
        return;
    }
  }

  bool IsRight() {
    const auto timers = static_cast<int64_t>(order_.size());
    const int64_t expected = operation_ == WheelOperation::kCancel ? 0 : timers;
    // ExpireAll counts only timers that have not expired yet.
    return is_warm_ && (operation_ != WheelOperation::kAdvance || expired_ == timers) &&
           expired_ + wheel_.ExpireAll() == expected;
  }

 private:
  std::vector<uint32_t> Delays(uint32_t most_ms) {
    std::vector<uint32_t> delays(order_.size());
    for (uint32_t& delay : delays) delay = 1 + static_cast<uint32_t>(random_.Below(most_ms));
    return delays;
  }
  void ScheduleAll(uint32_t most_ms) {
    random_.Shuffle(order_);
    const std::vector<uint32_t> delays = Delays(most_ms);
    for (size_t i = 0; i < order_.size(); ++i) wheel_.Schedule(order_[i], delays[i]);
  }

  const WheelOperation operation_;
  Random random_{3};
  Wheel wheel_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> delays_;
  bool is_warm_ = false;
  int64_t expired_ = 0;
};

template <typename Wheel>
void Measure(benchmark::State& state, WheelOperation operation, uint32_t timers) {
  if (Interrupted()) return state.SkipWithError("interrupted");
  const auto run = std::make_unique<WheelRun<Wheel>>(operation, timers);
  const auto started = std::chrono::steady_clock::now();
  run->Run();
  const std::chrono::duration<double, std::nano> elapsed =
      std::chrono::steady_clock::now() - started;
  if (!run->IsRight()) return state.SkipWithError("wrong answer: a timer was lost or doubled");
  ReportValue(state, elapsed.count() / timers);
}

template <typename Wheel>
void AddContestant(BenchmarkList& list, WheelOperation operation, uint32_t timers) {
  BenchmarkCase one;
  one.group = std::string("dispatcher/wheel/") +
              kWheelOperationNames[static_cast<size_t>(operation)] + "/" + std::to_string(timers) +
              "_timers";
  one.topology = "one thread -> timers -> all due";
  one.contestant = Wheel::kName;
  one.role = Wheel::kRole;
  one.parameters = {{"timers", timers}};
  one.operations = timers;
  one.body = [=](benchmark::State& state) { Measure<Wheel>(state, operation, timers); };
  list.Add(std::move(one));
}

}  // namespace

void AddWheelBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const uint32_t timers = size == BenchmarkSize::kTiny ? 1000 : 10'000;
  for (const WheelOperation operation : {WheelOperation::kSchedule, WheelOperation::kOverwrite,
                                         WheelOperation::kCancel, WheelOperation::kAdvance}) {
    AddContestant<ProductWheel>(list, operation, timers);
    AddContestant<LockedMultimapWheel>(list, operation, timers);
    AddContestant<LockedFollyWheel>(list, operation, timers);
  }
}

}  // namespace schedq
