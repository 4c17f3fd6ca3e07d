// Goal: the verdicts of the experiments follow from the measured figures, and a bad figure breaks a
// promise.
// Method: documents with made-up figures, of which one at a time is bad. The tests of `schedq run`
// cover real runs.
#include "bench/kep/experiments/experiments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "perf/documents/data_items.h"
#include "perf/documents/run_document.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

struct Made {
  double pods_per_second = 100;
  uint64_t judged = 10;
  uint64_t after_flush = 0;
  uint64_t idle_microseconds = 0;
  uint64_t longest_wait_ns = 1'000'000'000;
};

WorkloadResult ResultOf(const std::string& test_case, const std::string& arm, const Made& made) {
  WorkloadResult result;
  result.test_case = test_case;
  result.workload = "W/" + arm;
  Repetition& repetition = result.repetitions.emplace_back();
  DataItem& item = repetition.metrics.emplace_back();
  item.labels["Metric"] = "SchedulingThroughput";
  item.data["Average"] = made.pods_per_second;
  const std::string event = "event=\"resource.k8s.io/ResourceClaimAdd\"";
  repetition.counters = {
      {"scheduler_event_handling_duration_seconds_count{" + event + "}", 10},
      {"scheduler_queueing_hint_execution_duration_seconds_count{plugin=\"P\"," + event + "}",
       made.judged},
      {"scheduler_schedule_attempts_total{result=\"scheduled\"}", 40},
      {"scheduler_pod_scheduled_after_flush_total", made.after_flush},
      {"schedq_idle_with_backoff_microseconds_total", made.idle_microseconds}};
  repetition.latencies["queue_wait"].max_ns = made.longest_wait_ns;
  return result;
}

RunDocument Narrowing(const Made& on, const Made& off, const Made& rejected) {
  RunDocument document;
  for (const char* test_case : {"ClaimsOfTheirOwn", "ClaimsWithSharers"}) {
    document.workloads.push_back(ResultOf(test_case, "gate-off", off));
    document.workloads.push_back(ResultOf(test_case, "gate-on", on));
    document.workloads.push_back(ResultOf(test_case, "owner-reference", rejected));
  }
  return document;
}

RunDocument Backoff(const Made& on, const Made& off) {
  RunDocument document;
  document.workloads = {ResultOf("RoomInSteps", "gate-off", off),
                        ResultOf("RoomInSteps", "gate-on", on),
                        ResultOf("RoomInSteps", "flush-when-empty", off)};
  return document;
}

bool Holds(const RunDocument& document) {
  const auto verdicts = JudgeExperiments(document);
  EXPECT_THAT(verdicts, SizeIs(1));
  return verdicts.at(0).holds;
}

TEST(Experiments, NarrowingHoldsWithItsNumbers) {
  const auto verdicts =
      JudgeExperiments(Narrowing({200, 10}, {100, 500}, {200, 10, /*after_flush=*/30}));
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_TRUE(verdicts[0].holds);
  EXPECT_EQ(verdicts[0].proposal, "KEP-6132");
  EXPECT_THAT(verdicts[0].line, StartsWith("ClaimsOfTheirOwn/W: 200 pods/s and "));
  EXPECT_THAT(verdicts[0].line, HasSubstr("(2.00x)"));
  EXPECT_THAT(verdicts[0].line, HasSubstr("missed 0 of 40 with narrowing"));
  EXPECT_THAT(verdicts[0].line, HasSubstr("30 with the rejected OwnerReference"));
}

TEST(Experiments, NarrowingDoesNotHoldWhenAnythingItPromisedIsMissing) {
  const Made good{200, 10};
  const Made off{100, 500};
  const Made rejected{200, 10, 30};
  EXPECT_FALSE(Holds(Narrowing({50, 10}, off, rejected))) << "slower";
  EXPECT_FALSE(Holds(Narrowing({200, 500}, off, rejected))) << "judges as many";
  EXPECT_FALSE(Holds(Narrowing({200, 10, 1}, off, rejected))) << "misses a wake-up";
  EXPECT_FALSE(Holds(Narrowing(good, off, {200, 10, 0}))) << "there was nothing to miss";
}

TEST(Experiments, PoppingFromBackoffNeedsNoIdlenessAndNoStarvation) {
  const Made off{100, 0, 0, 5'000'000, 3'000'000'000};
  EXPECT_TRUE(Holds(Backoff({150}, off)));
  EXPECT_FALSE(Holds(Backoff({150, 0, 0, 1}, off))) << "idle";
  EXPECT_FALSE(Holds(Backoff({99}, off))) << "slower";
  EXPECT_FALSE(Holds(Backoff({150, 0, 0, 0, 4'000'000'000}, off))) << "somebody starves";
  EXPECT_FALSE(Holds(Backoff({150}, {100}))) << "there was nothing to gain";
}

// By arrival, by relevance, with a bound, with a client for bindings, with the gate at re-entry.
RunDocument Calls(const std::vector<uint64_t>& p99_ms) {
  RunDocument document;
  const std::vector<Arm>& arms = ArmsOf("StarvedBindings");
  for (size_t i = 0; i < arms.size(); ++i) {
    WorkloadResult result = ResultOf("StarvedBindings", arms[i].name, {});
    result.repetitions[0].latencies["pod_scheduled"].p99_ns = p99_ms[i] * 1'000'000;
    document.workloads.push_back(std::move(result));
  }
  return document;
}

TEST(Experiments, BindingsFirstMustBeAsGoodAsTheBestProposal) {
  const auto verdicts = JudgeExperiments(Calls({60'000, 25, 140, 20, 61'000}));
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_TRUE(verdicts[0].holds);
  EXPECT_EQ(verdicts[0].proposal, "starved bindings");
  EXPECT_THAT(verdicts[0].line, HasSubstr("60.0 s at p99 by arrival, 0.0250 s by relevance"));
  EXPECT_THAT(verdicts[0].line, HasSubstr("0.140 s with at most 4 patches in flight"));
  EXPECT_THAT(verdicts[0].line, HasSubstr("61.0 s with a gate at re-entry"));
  EXPECT_TRUE(Holds(Calls({60'000, 59, 140, 20, 61'000}))) << "a patch and a binding went before";
  EXPECT_FALSE(Holds(Calls({60'000, 61, 140, 20, 61'000}))) << "a proposal is better";
  EXPECT_FALSE(Holds(Calls({60'000, 1500, 1400, 1200, 61'000}))) << "bindings wait long";
  EXPECT_FALSE(Holds(Calls({900, 25, 140, 20, 900}))) << "nothing starved";
  RunDocument document = Calls({60'000, 25, 140, 20, 61'000});
  document.workloads.pop_back();
  EXPECT_THAT(JudgeExperiments(document), IsEmpty());
}

// They differ in how calls go, and in nothing else.
TEST(Experiments, TheArmsOfCallsHaveOneRate) {
  for (const Arm& arm : ArmsOf("StarvedBindings")) {
    EXPECT_FALSE(arm.gate) << arm.name;
    EXPECT_EQ(arm.calls.calls_per_second, 50) << arm.name;
    EXPECT_EQ(arm.calls.burst, 100u) << arm.name;
    EXPECT_EQ(arm.calls.order == CallOrder::kRelevance, arm.name == kRelevanceArm) << arm.name;
  }
}

TEST(Experiments, AnArmThatWasNotMeasuredGivesNoVerdict) {
  RunDocument document = Backoff({150}, {100});
  document.workloads[2].outcome = WorkloadOutcome::kInterrupted;
  EXPECT_THAT(JudgeExperiments(document), IsEmpty());
  EXPECT_THAT(ExperimentTable(document, {}), HasSubstr("RoomInSteps/W/gate-on"));
  EXPECT_THAT(ArmsOf("Basic"), IsEmpty());
}

}  // namespace
}  // namespace schedq
