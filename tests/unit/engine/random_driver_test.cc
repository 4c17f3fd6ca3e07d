// Goal: no sequence of operations makes an engine break an invariant or differ from another one.
// Method: the random driver of tests/support/driver over all combinations of gates; the table of
// what it reached must be full. Canaries: engines that lose a pod, pop the second best, miss an
// event or keep all events are caught, and what catches them shrinks to a few operations.
// SCHEDQ_SEED and SCHEDQ_OPERATIONS choose another run.
#include <gtest/gtest.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/format/trace/replay_file.h"
#include "bench/format/trace/trace.h"
#include "engine/base/result.h"
#include "engine/base/sanitizers.h"
#include "schedq/engine_kind.h"
#include "tests/support/driver/coverage.h"
#include "tests/support/driver/driver.h"
#include "tests/support/driver/faulty_queues.h"
#include "tests/support/driver/log_judge.h"

namespace schedq {
namespace {

#if defined(SCHEDQ_ADDRESS_SANITIZER) || defined(SCHEDQ_THREAD_SANITIZER)
constexpr uint64_t kOperations = 30'000;  // Sanitizers slow it down tenfold.
#else
constexpr uint64_t kOperations = 840'000;
#endif
constexpr uint64_t kOperationsForFullTable = 840'000;
// Of runs with groups, whose table has more cells, some of them hard to reach.
constexpr uint64_t kOperationsOnGroups = kOperations / 2;
constexpr int kOperationsPerRun = 1500;
constexpr uint64_t kLeastReached = 1000;
constexpr uint64_t kLeastReachedWithGroups = 50;

uint64_t FromEnvironment(const char* name, uint64_t absent) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return absent;
  uint64_t number = 0;
  const std::string_view digits(text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  EXPECT_TRUE(error == std::errc() && end == digits.data() + digits.size())
      << name << " is " << text << ", expected a number";
  return number;
}

DriverOptions OptionsFor(uint64_t seed) {
  return {.seed = seed,
          .operations = kOperationsPerRun,
          .pops_from_backoff = seed % 4 >= 2,
          .narrows = seed % 2 == 1};
}

// Trees of groups in every other four seeds.
DriverOptions OptionsWithGroups(uint64_t seed) {
  DriverOptions options = OptionsFor(seed);
  options.has_groups = true;
  options.has_composites = seed % 8 >= 4;
  return options;
}

// Runs the seeds from SCHEDQ_SEED on, until there were so many operations.
void DriveSeeds(const std::vector<DrivenEngine>& engines, uint64_t operations,
                DriverOptions (*options_for)(uint64_t seed), Coverage* reached) {
  const uint64_t first = FromEnvironment("SCHEDQ_SEED", 1);
  for (uint64_t done = 0; done < operations; done += kOperationsPerRun) {
    const DriverOptions options = options_for(first + done / kOperationsPerRun);
    const auto failure = Drive(options, engines, reached);
    if (!failure) continue;
    FAIL() << WriteFailure(Shrink(*failure, engines), options, engines,
                           std::filesystem::current_path().string());
  }
  std::printf("%s%llu operations\n", reached->Table().c_str(),
              static_cast<unsigned long long>(reached->operations()));
  EXPECT_EQ(reached->Impossible(), "");
}

TEST(RandomDriver, EnginesAgreeAndKeepTheInvariants) {
  const uint64_t operations = FromEnvironment("SCHEDQ_OPERATIONS", kOperations);
  Coverage reached;
  DriveSeeds(ProductEngines(), operations, OptionsFor, &reached);
  if (operations >= kOperationsForFullTable) {
    EXPECT_GE(reached.Least(), kLeastReached);
  }
}

TEST(RandomDriver, EnginesAgreeOnGroupsAndKeepTheInvariants) {
  const uint64_t operations = FromEnvironment("SCHEDQ_OPERATIONS", kOperationsOnGroups);
  Coverage reached(/*has_groups=*/true);
  DriveSeeds(ProductEngines(), operations, OptionsWithGroups, &reached);
  if (operations >= kOperationsForFullTable / 2) {
    EXPECT_GE(reached.Least(), kLeastReachedWithGroups);
  }
}

TEST(RandomDriver, RepeatsItselfBySeed) {
  Coverage first;
  Coverage second;
  ASSERT_FALSE(Drive(OptionsFor(3), ProductEngines(), &first));
  ASSERT_FALSE(Drive(OptionsFor(3), ProductEngines(), &second));
  EXPECT_EQ(first.Table(), second.Table());
  ASSERT_FALSE(Drive(OptionsFor(7), ProductEngines(), &second));
  EXPECT_NE(first.Table(), second.Table());
}

// Drives until the engines fail, shrinks, and returns the small failure.
DriverFailure MustCatch(const std::vector<DrivenEngine>& engines,
                        DriverOptions (*options_for)(uint64_t seed) = OptionsFor) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const DriverOptions options = options_for(seed);
    Coverage reached(options.has_groups);
    auto failure = Drive(options, engines, &reached);
    if (failure) return Shrink(std::move(*failure), engines);
  }
  ADD_FAILURE() << "the fault was not caught";
  return {};
}

TEST(RandomDriverCanary, AnEngineThatLosesAPodIsCaught) {
  const DriverFailure failure = MustCatch({FaultyEngine(Fault::kLosesThirdFailure)});
  EXPECT_NE(failure.what.find("is lost"), std::string::npos) << failure.what;
  EXPECT_LT(failure.operations.size(), 30u);
}

TEST(RandomDriverCanary, AnEngineThatPopsTheSecondBestIsCaught) {
  const DriverFailure failure = MustCatch({FaultyEngine(Fault::kPopsSecondBest)});
  EXPECT_NE(failure.what.find("was first in active"), std::string::npos) << failure.what;
  EXPECT_LT(failure.operations.size(), 30u);
}

TEST(RandomDriverCanary, AnEngineThatKeepsMembersWithoutTheirObjectIsCaught) {
  const DriverFailure failure =
      MustCatch({FaultyEngine(Fault::kMissesGroupDelete)}, OptionsWithGroups);
  EXPECT_NE(failure.what.find("expected incomplete"), std::string::npos) << failure.what;
  EXPECT_LT(failure.operations.size(), 30u);
}

TEST(RandomDriverCanary, AnEngineThatPopsAGroupWithoutAMemberIsCaught) {
  const DriverFailure failure =
      MustCatch({FaultyEngine(Fault::kLosesMemberOfPop)}, OptionsWithGroups);
  EXPECT_NE(failure.what.find("popped of"), std::string::npos) << failure.what;
  EXPECT_LT(failure.operations.size(), 30u);
}

TEST(RandomDriverCanary, AnEngineThatKeepsEventsIsCaught) {
  DrivenEngine engine = FaultyEngine(Fault::kKeepsEvents);
  engine.events_let_go_max = 64;
  const DriverFailure failure = MustCatch({engine});
  EXPECT_NE(failure.what.find("are kept though no pod is in flight"), std::string::npos)
      << failure.what;
  EXPECT_LT(failure.operations.size(), 30u);
}

// Plays numbers of pods in flight and of events kept, of an engine that lets ten go at once and of
// one that lets all go; returns the first complaint.
struct Kept {
  size_t in_flight;
  uint64_t kept;
  uint64_t needed;
  bool is_logged = false;
};
std::string Complaint(const std::vector<Kept>& steps) {
  LogJudge judge(/*let_go_max=*/10);
  LogJudge exact(UINT64_MAX);
  for (const Kept& step : steps) {
    EXPECT_EQ(exact.After(step.in_flight, step.is_logged, step.needed), "");
    std::string wrong = judge.After(step.in_flight, step.is_logged, step.kept);
    if (wrong.empty()) wrong = judge.Against(exact);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

TEST(LogJudge, ALogThatGoesInStepsIsRight) {
  EXPECT_EQ(Complaint({{1, 25, 25}, {0, 15, 0}, {1, 15, 0}, {0, 5, 0}, {0, 0, 0, true}}), "");
  EXPECT_EQ(Complaint({{2, 25, 25}, {1, 15, 2}, {0, 5, 0}, {0, 5, 0}, {1, 6, 1}, {0, 0, 0}}), "");
}

TEST(LogJudgeCanary, ALogThatGoesTooSlowlyOrTooEarlyIsCaught) {
  const auto finds = [](const std::vector<Kept>& steps, const std::string& text) {
    const std::string complaint = Complaint(steps);
    EXPECT_NE(complaint.find(text), std::string::npos) << complaint << ", expected " << text;
  };
  finds({{1, 25, 25}, {0, 16, 0}}, "16 of 25 events are kept");
  finds({{1, 25, 25}, {0, 15, 0}, {1, 15, 0}, {0, 6, 0}}, "6 of 15 events are kept");
  finds({{1, 25, 25}, {0, 15, 0}, {0, 16, 0}}, "16 of 15 events are kept");
  finds({{1, 25, 25}, {0, 15, 0}, {0, 7, 0, true}}, "7 of 15 events are kept");
  finds({{2, 25, 25}, {1, 16, 2}}, "14 events are kept that no pod in flight needs, expected 13");
  finds({{2, 25, 25}, {1, 15, 2}, {1, 17, 3}}, "14 events are kept");
  finds({{2, 25, 25}, {1, 1, 2}}, "1 events are kept, and pods in flight need 2");
}

TEST(RandomDriverCanary, AnEngineThatMissesAnEventIsCaughtByAnother) {
  std::vector<DrivenEngine> engines = ProductEngines();
  engines.resize(1);
  engines.push_back(FaultyEngine(Fault::kMissesEventsWithTwoInFlight));
  const DriverFailure failure = MustCatch(engines);
  EXPECT_NE(failure.what.find("differs from " + engines.front().name), std::string::npos)
      << failure.what;
  EXPECT_LT(failure.operations.size(), 30u);

  // What is written replays on the product's engine without a mismatch.
  const std::string text = WriteFailure(failure, OptionsFor(0), engines, testing::TempDir());
  const auto from = text.find(testing::TempDir());
  ASSERT_NE(from, std::string::npos);
  const std::string path = text.substr(from, text.find('\n', from) - from);
  const Result<ReplayTotals> totals =
      ReplayFile(path, AllEngines().front(), [](const auto& line) { ADD_FAILURE() << line; });
  std::filesystem::remove(path);
  ASSERT_TRUE(totals.ok()) << totals.error().message();
  const bool has_end = failure.operations.back().op == TraceOp::kEnd;
  EXPECT_EQ(totals->operations, failure.operations.size() + (has_end ? 0 : 1));
}

}  // namespace
}  // namespace schedq
