// Goal: the linearizability checker accepts what some order explains and rejects the rest, alone
// and under the model. Method: hand-written histories with known verdicts; then tickets and
// priority lanes with and without their faults, whose histories are judged in every schedule.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/faulty_structures.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/happens_before.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using model::FailureKind;
using model::Report;
using model::Trial;

// A register that holds a number.
struct RegisterSpec {
  using State = int;
  struct Operation {
    bool writes;
    int value;
  };
  using Result = int;  // of a read; 0 of a write
  static Result Apply(State& state, const Operation& operation) {
    if (!operation.writes) return state;
    state = operation.value;
    return 0;
  }
  static std::string Describe(const Operation& operation) {
    return operation.writes ? "write " + std::to_string(operation.value) : "read";
  }
  static std::string Describe(const Result& result) { return std::to_string(result); }
};
using RegisterCall = Call<RegisterSpec, RealTime>;

RegisterCall Write(uint32_t thread, int value, uint64_t from, uint64_t to) {
  return {thread, {true, value}, 0, {from}, {to}};
}
RegisterCall PendingWrite(uint32_t thread, int value, uint64_t from) {
  return {thread, {true, value}, std::nullopt, {from}, {}};
}
RegisterCall Read(uint32_t thread, int result, uint64_t from, uint64_t to) {
  return {thread, {false, 0}, result, {from}, {to}};
}

Linearizability Check(const std::vector<RegisterCall>& history) {
  return CheckLinearizable<RegisterSpec>(history);
}

TEST(LinearizabilityTest, OverlappingOperationsMayGoEitherWay) {
  EXPECT_TRUE(Check({Write(1, 5, 1, 4), Read(2, 0, 2, 3)}).holds);
  EXPECT_TRUE(Check({Write(1, 5, 1, 4), Read(2, 5, 2, 3)}).holds);
  EXPECT_FALSE(Check({Write(1, 5, 1, 4), Read(2, 6, 2, 3)}).holds);
}

TEST(LinearizabilityTest, ResponseBeforeInvocationIsAnOrder) {
  EXPECT_TRUE(Check({Write(1, 5, 1, 2), Read(2, 5, 3, 4)}).holds);
  EXPECT_FALSE(Check({Write(1, 5, 1, 2), Read(2, 0, 3, 4)}).holds);
  // Two reads one after the other may not see a write and then its absence.
  EXPECT_FALSE(Check({Write(1, 5, 1, 9), Read(2, 5, 2, 3), Read(3, 0, 4, 5)}).holds);
}

TEST(LinearizabilityTest, PendingOperationMayHaveTakenEffectOrNot) {
  EXPECT_TRUE(Check({PendingWrite(1, 5, 1), Read(2, 5, 2, 3)}).holds);
  EXPECT_TRUE(Check({PendingWrite(1, 5, 1), Read(2, 0, 2, 3)}).holds);
  EXPECT_TRUE(Check({PendingWrite(1, 5, 1), Read(2, 0, 2, 3), Read(2, 5, 4, 5)}).holds);
  EXPECT_FALSE(Check({PendingWrite(1, 5, 1), Read(2, 5, 2, 3), Read(2, 0, 4, 5)}).holds);
  EXPECT_FALSE(Check({PendingWrite(1, 5, 4), Read(2, 5, 2, 3)}).holds);
}

TEST(LinearizabilityTest, ExplanationIsTheShortestFailingPrefix) {
  const Linearizability verdict = Check({Write(1, 5, 1, 2), Read(2, 0, 3, 4), PendingWrite(3, 8, 1),
                                         Write(1, 6, 5, 6), Read(2, 6, 7, 8)});
  EXPECT_FALSE(verdict.holds);
  EXPECT_NE(verdict.explanation.find("write 5"), std::string::npos) << verdict.explanation;
  EXPECT_NE(verdict.explanation.find("read -> 0"), std::string::npos) << verdict.explanation;
  EXPECT_EQ(verdict.explanation.find("write 6"), std::string::npos) << verdict.explanation;
  EXPECT_EQ(verdict.explanation.find("write 8"), std::string::npos) << verdict.explanation;
}

TEST(LinearizabilityTest, SixtyOperationsAreFew) {
  // Sixty concurrent writes and a late read of one of them: memoisation keeps the search small.
  std::vector<RegisterCall> history;
  for (uint32_t i = 0; i < 60; ++i) {
    history.push_back(
        Write(i % 6, static_cast<int>(i), 1 + 10 * (i / 6) + i % 6, 9 + 10 * (i / 6)));
  }
  history.push_back(Read(7, 54, 200, 201));
  const Linearizability verdict = Check(history);
  EXPECT_TRUE(verdict.holds) << verdict.explanation;
  EXPECT_LT(verdict.configurations, 100'000u);
  history.resize(65, Read(7, 54, 300, 301));
  EXPECT_FALSE(Check(history).holds) << "a history that is too long must not pass unchecked";
}

template <bool kTakesTwoSteps>
Report ExploreTickets() {
  model::Options options;
  options.name = kTakesTwoSteps ? "tickets in two steps" : "tickets";
  return model::Exhaust(options, [](Trial& trial) {
    Tickets<model::Atomic, kTakesTwoSteps> tickets;
    Recorder<TicketSpec, model::HappensBefore> recorder(3);
    for (uint32_t thread = 0; thread < 3; ++thread) {
      trial.Thread([&, thread] {
        for (int i = 0; i < 2; ++i) recorder.Record(thread, {}, [&] { return tickets.Next(); });
      });
    }
    trial.Join();
    const Linearizability verdict =
        CheckLinearizable<TicketSpec, model::HappensBefore>(recorder.History());
    MODEL_CHECK(verdict.holds, verdict.explanation);
  });
}

TEST(LinearizabilityTest, TwoStepCounterIsCaught) {
  const Report bad = ExploreTickets<true>();
  EXPECT_TRUE(bad.failed_by(FailureKind::kCheck)) << bad;
  const Report good = ExploreTickets<false>();
  model::ExpectExhausted(good, 80);
}

// Items that are present, popped highest first.
struct LanesSpec {
  using State = uint32_t;  // a bit a priority
  struct Operation {
    int pushes;  // the priority pushed, or -1 for a pop
  };
  using Result = int;  // the priority popped, -1 for none; -2 of a push
  static Result Apply(State& state, const Operation& operation) {
    if (operation.pushes >= 0) {
      state |= uint32_t{1} << operation.pushes;
      return -2;
    }
    for (int priority = 31; priority >= 0; --priority) {
      if ((state >> priority & 1) == 0) continue;
      state &= ~(uint32_t{1} << priority);
      return priority;
    }
    return -1;
  }
  static std::string Describe(const Operation& operation) {
    return operation.pushes >= 0 ? "push " + std::to_string(operation.pushes) : "pop";
  }
  static std::string Describe(const Result& result) { return std::to_string(result); }
};

template <bool kScansWithoutValidation, typename Ordering>
Report ExploreLanes() {
  model::Options options;
  options.name = kScansWithoutValidation ? "lanes scanned without validation" : "lanes";
  return model::Exhaust(options, [](Trial& trial) {
    PriorityLanes<model::Atomic, kScansWithoutValidation> lanes;
    Recorder<LanesSpec, Ordering> recorder(3);
    trial.Thread([&] {
      for (int priority : {2, 0}) {
        recorder.Record(0, {priority}, [&] {
          lanes.Push(priority);
          return -2;
        });
      }
    });
    for (uint32_t popper = 1; popper < 3; ++popper) {
      trial.Thread([&, popper] { recorder.Record(popper, {-1}, [&] { return lanes.Pop(); }); });
    }
    trial.Join();
    const Linearizability verdict = CheckLinearizable<LanesSpec, Ordering>(recorder.History());
    MODEL_CHECK(verdict.holds, verdict.explanation);
  });
}

TEST(LinearizabilityTest, ScanWithoutValidationIsCaught) {
  const Report bad = ExploreLanes<true, model::HappensBefore>();
  ASSERT_TRUE(bad.failed_by(FailureKind::kCheck)) << bad;
  // The higher item was pushed before the lower one, and the lower one was popped.
  EXPECT_NE(bad.failure->message.find("push 2"), std::string::npos) << bad;
  EXPECT_NE(bad.failure->message.find("pop -> 0"), std::string::npos) << bad;

  const Report good = ExploreLanes<false, model::HappensBefore>();
  model::ExpectExhausted(good, 30);
  // All its operations are sequentially consistent, so the order of execution holds as well.
  const Report strict = ExploreLanes<false, model::ExecutionOrder>();
  EXPECT_TRUE(strict.passed() && strict.complete) << strict;
}

}  // namespace
}  // namespace schedq
