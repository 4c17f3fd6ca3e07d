// Goal: where two traces part is found with the first pod that went another way; two rounds with
// changed processors are a pair.
// Method: traces of a few lines; results made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "bench/program/gate/duet.h"
#include "bench/program/gate/gate_report.h"
#include "bench/program/gate/trace_difference.h"
#include "engine/base/result.h"
#include "perf/compare/junit.h"
#include "perf/compare/results.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHeader =
    R"({"schedq_trace":1,"start":"2026-01-01T00:00:00Z","gates":{},"pod_initial_backoff_ms":1000,)"
    R"("pod_max_backoff_ms":10000,"pod_max_in_unschedulable_ms":300000,"plugins":[]})"
    "\n";

std::string Add(const std::string& pod, int time, const std::string& place) {
  return R"({"op":"add","t":)" + std::to_string(time) +
         R"(,"pod":{"namespace":"n","uid":"u","name":")" + pod + R"("},"want":{"changed":{")" +
         pod + R"(":")" + place + "\"}}}\n";
}

std::optional<TraceDifference> Find(const std::string& base, const std::string& next) {
  Result<std::optional<TraceDifference>> found = FindTraceDifference(base, next);
  EXPECT_TRUE(found.ok()) << found.error().message();
  return *found;
}

TEST(GateTraceDifference, EqualTracesHaveNone) {
  const std::string trace = kHeader + Add("a", 1, "active");
  EXPECT_FALSE(Find(trace, trace).has_value());
}

TEST(GateTraceDifference, TheFirstPodThatWentAnotherWayIsNamedWithItsHistory) {
  const std::string common = kHeader + Add("a", 0, "active") + Add("b", 10, "active");
  const std::string fail =
      R"({"op":"fail","t":1500,"pod":"b","unschedulable":["Fit"],"want":{"changed":{"b":")";
  const std::optional<TraceDifference> found =
      Find(common + fail + "unschedulable\"}}}\n", common + fail + "backoff@2500\"}}}\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->line, 4u);
  EXPECT_EQ(found->pod, "b");
  EXPECT_EQ(found->base, "1.500 s: fail b, rejected by Fit; b is unschedulable");
  EXPECT_THAT(found->base_history,
              ElementsAre("  0.010 s: add b; b is active",
                          "> 1.500 s: fail b, rejected by Fit; b is unschedulable"));
  EXPECT_THAT(found->next_history,
              ElementsAre("  0.010 s: add b; b is active",
                          "> 1.500 s: fail b, rejected by Fit; b is backoff@2500"));
  EXPECT_THAT(TraceDifferenceText(*found),
              HasSubstr("the first pod that went another way: b\n  base:\n"));
}

TEST(GateTraceDifference, ATraceThatEndsEarlierDiffers) {
  const std::string trace = kHeader + Add("a", 1, "active");
  const std::optional<TraceDifference> found = Find(trace + Add("b", 2, "active"), trace);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->line, 3u);
  EXPECT_EQ(found->next, "");
  EXPECT_THAT(TraceDifferenceText(*found), HasSubstr("  new:  has ended\n"));
}

TEST(GateTraceDifference, WhatIsNoTraceIsAnError) {
  EXPECT_FALSE(FindTraceDifference("", kHeader).ok());
  EXPECT_FALSE(FindTraceDifference(kHeader + "{}\n", kHeader + "{\"op\":\"x\"}\n").ok());
}

Results Round(double value) {
  Results results;
  results.metrics["m"] = {"ms", {value}, "m", "", true, std::nullopt};
  return results;
}

TEST(GateDuet, TwoRoundsWithChangedProcessorsAreAPair) {
  // The second processor is four times as slow; each side had both.
  const Results pairs = PairsOfRounds({Round(1), Round(4), Round(2), Round(8), Round(9)});
  EXPECT_THAT(pairs.metrics.at("m").values, ElementsAre(2, 4)) << "the odd round is left out";
}

TEST(GateReportTest, AnnotationsAreEscaped) {
  GateReport report;
  report.AddJunit({"time", {{"C/W: 5%, a", 0, JunitOutcome::kSkipped, "cannot\ntell", ""}}});
  EXPECT_EQ(report.annotations,
            "::warning title=schedq gate time::C/W: 5%25, a: cannot\\x0atell\n");
}

}  // namespace
}  // namespace schedq
