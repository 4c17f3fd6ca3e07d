// Goal: whichever thread is stopped in an operation on an object's calls, and wherever: what the
// operations of another thread tell its listeners, and what it can start afterwards, is what a
// queue of one thread would have told and started, in some order that respects which operation came
// before which.
// Method: from several beginnings, every operation meets every two of another thread, which then
// starts and completes what is there. Each thread is frozen at each of its steps; the other one
// judges during the freeze. The judge is the queue itself, asked by one thread in each order
// (call_queue_program_test.cc compares that with plain rules). The stopped operation may have taken
// effect or not.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "engine/base/log.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "tests/support/call_scene.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;

struct TinyShape {
  static constexpr uint32_t kBlockBits = 2;
  static constexpr uint32_t kHorizonBits = 6;
  static constexpr uint32_t kFirstTimersBits = 1;
  static constexpr uint32_t kCallsKept = 2;
};

class StillClock final : public Clock {
 public:
  Instant Now() const override { return Instant(std::chrono::seconds(1)); }
  TimerId At(Instant, std::function<void()>) override { return 0; }
  TimerId Every(Instant, Duration, std::function<void()>) override { return 0; }
  bool Cancel(TimerId) override { return false; }
};

enum class Deed : uint8_t {
  kSetA,
  kSetBLater,
  kClear,
  kNominateLater,
  kBind,
  kSeeA,
  kCancel,
  kSucceed,
  kFail,
  kDispatch,
};
using Deeds = std::vector<Deed>;
constexpr std::array<const char*, 10> kNames = {"set a", "set b later", "clear",  "nominate later",
                                                "bind",  "see a",       "cancel", "succeed",
                                                "fail",  "dispatch"};

// What an operation told listeners and started: numbers that name a call and what became of it.
using Result = std::vector<uint64_t>;
constexpr uint64_t kStarted = 8;
constexpr uint64_t kSucceeded = 9;

// A queue with one object. Each thread records what its own operations tell.
class Scene final : public CallListener {
 public:
  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override {
    const bool was_outranked = WasOutranked(end, status);
    Tell(call.tag, was_outranked ? 7 : static_cast<uint64_t>(end));
    ends_[call.tag] += 1;
  }
  void OnSuccessorEnd(const ApiCall&, uint64_t tag, const Status&) override {
    Tell(tag, kSucceeded);
  }

  Result Run(Deed deed, uint64_t tag) {
    told_[ThreadOfModel()].clear();
    Do(deed, {0, tag, {}, pod_, this});
    return std::exchange(told_[ThreadOfModel()], {});
  }
  // How often the call ended.
  int EndsOf(uint64_t tag) const { return ends_[tag]; }
  void Close() { queue_.Close(); }

 private:
  static size_t ThreadOfModel() {
    const model::Runtime* run = model::Runtime::Current();
    return run == nullptr ? 0 : run->thread();
  }
  void Tell(uint64_t tag, uint64_t what) { told_[ThreadOfModel()].push_back(tag * 16 + what); }

  void Do(Deed deed, CallSpec spec) {
    CallSpec later = spec;
    later.delay = milliseconds(5);
    switch (deed) {
      case Deed::kSetA:
        return queue_.Add(SetMessage(spec, "a"));
      case Deed::kSetBLater:
        return queue_.Add(SetMessage(later, "b"));
      case Deed::kClear:
        return queue_.Add(ClearMessage(spec));
      case Deed::kNominateLater:
        return queue_.Add(NominateNode(later, "node"));
      case Deed::kBind:
        return queue_.Add(BindTo(spec, "node"));
      case Deed::kSeeA:
        return queue_.Sync(0, seen_);
      case Deed::kCancel:
        return queue_.Cancel(0);
      case Deed::kSucceed:
        return Complete(Status());
      case Deed::kFail:
        return Complete(Error("unavailable"));
      case Deed::kDispatch:
        // A ticket that another thread is still pushing is looked for at the next tick.
        for (const int later_by : {10, 11}) Dispatch(clock_.Now() + milliseconds(later_by));
        return;
    }
  }
  void Complete(const Status& status) { queue_.Complete(0, status); }
  void Dispatch(Instant now) {
    queue_.Dispatch(now, [this](const ApiCall& call) {
      Tell(call.tag, kStarted);
      // What the call says.
      told_[ThreadOfModel()].push_back(call.condition.message.empty()
                                           ? uint64_t{0}
                                           : static_cast<uint64_t>(call.condition.message[0]));
      told_[ThreadOfModel()].push_back(call.nomination() != nullptr ? 1 : 0);
    });
  }

  StillClock clock_;
  PodRef pod_ = UnmarkedPod();
  PodRef seen_ = MarkedPod("a");
  std::array<Result, 4> told_{};
  std::array<int, 64> ends_{};
  CallQueue<model::Atomic, TinyShape> queue_{
      CallQueueOptions{.clock = &clock_, .calls_per_second = 0}};
};

struct Beginning {
  std::string name;
  Deeds before;
};
std::vector<Beginning> Beginnings() {
  return {{"nothing", {}},
          {"a call waits", {Deed::kSetBLater}},
          {"a call is in flight", {Deed::kSetA, Deed::kDispatch}},
          {"one is in flight, one waits", {Deed::kSetA, Deed::kDispatch, Deed::kSetBLater}},
          {"one succeeded", {Deed::kSetA, Deed::kDispatch, Deed::kSucceed}}};
}

constexpr uint64_t kTagOfOther = 20;
constexpr uint64_t kFirstTagOfJudge = 30;
// What the judging thread does last: it starts and completes what there is.
const Deeds& LastDeeds() {
  static const Deeds deeds = {Deed::kDispatch, Deed::kFail, Deed::kDispatch, Deed::kSucceed};
  return deeds;
}

// What each operation of the judging thread returns, and the other's, if that one takes effect
// after so many of the judging thread's; nullopt: it does not.
struct Order {
  std::optional<size_t> other_after;
  std::vector<Result> judge;
  Result other;
};
Order ResultsOf(const Deeds& before, Deed other, const Deeds& deeds,
                std::optional<size_t> other_after) {
  Scene scene;
  for (size_t i = 0; i < before.size(); ++i) scene.Run(before[i], i);
  Order order{other_after, {}, {}};
  for (size_t i = 0; i <= deeds.size(); ++i) {
    if (other_after == i) order.other = scene.Run(other, kTagOfOther);
    if (i < deeds.size()) order.judge.push_back(scene.Run(deeds[i], kFirstTagOfJudge + i));
  }
  return order;
}

// What happened so far. One thread of the machine runs the model, so moments are ordered.
struct Happened {
  struct Span {
    int from = 0;
    int to = 0;  // 0: not yet.
  };
  int now = 0;
  Span other;
  Result other_result;
  std::vector<Span> judge;
  std::vector<Result> judge_results;

  // Whether it may have happened in this order.
  bool Fits(const Order& order) const {
    const size_t place = order.other_after.value_or(judge.size());
    if (other.to != 0 && (!order.other_after || other_result != order.other)) return false;
    for (size_t i = 0; i < judge_results.size(); ++i) {
      if (judge_results[i] != order.judge[i]) return false;
      if (!order.other_after) continue;
      const bool came_first = other.from == 0 || judge[i].to < other.from;
      const bool came_last = other.to != 0 && other.to < judge[i].from;
      if ((came_first && i >= place) || (came_last && i < place)) return false;
    }
    return true;
  }
};

std::string TextOf(const Result& result) {
  std::string text = "(";
  for (const uint64_t number : result) text += std::to_string(number) + " ";
  return text + ")";
}

model::Body BodyOf(const Deeds& before, Deed other, Deeds deeds) {
  deeds.insert(deeds.end(), LastDeeds().begin(), LastDeeds().end());
  std::vector<Order> orders = {ResultsOf(before, other, deeds, std::nullopt)};
  for (size_t place = 0; place <= deeds.size(); ++place) {
    orders.push_back(ResultsOf(before, other, deeds, place));
  }
  return [before, other, deeds, orders](model::Trial& trial) {
    Scene scene;
    Happened happened;
    const auto judge = [&] {
      bool is_right = false;
      for (const Order& order : orders) is_right |= happened.Fits(order);
      std::string text;
      for (const Result& result : happened.judge_results) text += TextOf(result);
      MODEL_CHECK(is_right, "a queue of one thread would have told this: " + text + ", the other " +
                                TextOf(happened.other_result));
    };
    for (size_t i = 0; i < before.size(); ++i) scene.Run(before[i], i);
    trial.Thread([&] {
      happened.other.from = ++happened.now;
      happened.other_result = scene.Run(other, kTagOfOther);
      happened.other.to = ++happened.now;
    });
    trial.Thread([&] {
      for (size_t i = 0; i < deeds.size(); ++i) {
        happened.judge.push_back({++happened.now, 0});
        Result result = scene.Run(deeds[i], kFirstTagOfJudge + i);
        happened.judge_results.push_back(std::move(result));
        happened.judge[i].to = ++happened.now;
        judge();
      }
    });
    trial.Join();
    judge();
    scene.Close();
  };
}

model::Options Named(const std::string& suffix) {
  model::Options options = model::OptionsOfTest(suffix);
  options.preemptions_max = 0;
  options.stale_reads_max = 0;
  options.weak_failures_max = 0;
  return options;
}

class CallHistoryModel : public testing::TestWithParam<size_t> {};

TEST_P(CallHistoryModel, AnyThreadMayBeFrozenAnywhere) {
  SetLogLevel(LogLevel::kError);  // Calls fail by the thousand.
  const Beginning beginning = Beginnings()[GetParam()];
  uint64_t freezes = 0;
  for (const Deed other : {Deed::kSetA, Deed::kSetBLater, Deed::kClear, Deed::kNominateLater,
                           Deed::kBind, Deed::kSeeA, Deed::kCancel, Deed::kSucceed, Deed::kFail}) {
    for (const Deed first : {Deed::kSetA, Deed::kSetBLater, Deed::kClear, Deed::kNominateLater,
                             Deed::kBind, Deed::kSeeA, Deed::kCancel, Deed::kDispatch}) {
      for (const Deed second : {Deed::kSetBLater, Deed::kCancel, Deed::kDispatch}) {
        const auto name = [](Deed deed) { return kNames[static_cast<size_t>(deed)]; };
        const std::string text =
            std::string(name(other)) + " meets " + name(first) + ", " + name(second);
        const model::Report report =
            model::ExhaustStalls(Named(text), BodyOf(beginning.before, other, {first, second}));
        ASSERT_TRUE(report.passed()) << beginning.name << ": " << text << "\n" << report;
        freezes += report.freezes;
      }
    }
  }
  EXPECT_GT(freezes, 1000u);
}
INSTANTIATE_TEST_SUITE_P(From, CallHistoryModel, testing::Range<size_t>(0, 5));

}  // namespace
}  // namespace schedq
