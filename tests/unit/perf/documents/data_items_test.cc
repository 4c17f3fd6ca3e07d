// Goal: DataItems files have the form that perf-dash expects, scheduler_perf's own files are read,
// and benchstat lines have Go's form.
// Method: exact text; a file in scheduler_perf's form, with null data.
#include "perf/documents/data_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "perf/documents/benchstat.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "perf/text/rfc3339.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr Instant kTime = Instant(std::chrono::seconds(1'772'366'400));

DataItem Item(std::string metric, std::string unit, std::map<std::string, double> data) {
  return {std::move(data), std::move(unit), {{"Metric", std::move(metric)}, {"Name", "c/w/n"}}};
}

TEST(PerfDataItems, EveryItemCarriesTheSameLabels) {
  std::vector<DataItem> items = {Item("a", "ms", {}), Item("b", "ms", {})};
  items[1].labels["plugin"] = "Fit";
  CompleteLabels(items);
  EXPECT_THAT(items[0].labels, UnorderedElementsAre(Pair("Metric", "a"), Pair("Name", "c/w/n"),
                                                    Pair("plugin", "not applicable")));
  EXPECT_EQ(items[1].labels["plugin"], "Fit");
}

TEST(PerfDataItems, TextIsAsPerfDashReadsIt) {
  DataItemsDocument document;
  document.items = {Item("SchedulingThroughput", "pods/s", {{"Perc50", 300}, {"Average", 336.5}})};
  EXPECT_EQ(*DocumentText(document),
            "{\n  \"version\": \"v1\",\n  \"dataItems\": [\n    {\n      \"data\": {\n"
            "        \"Average\": 336.5,\n        \"Perc50\": 300.0\n      },\n"
            "      \"unit\": \"pods/s\",\n      \"labels\": {\n"
            "        \"Metric\": \"SchedulingThroughput\",\n        \"Name\": \"c/w/n\"\n"
            "      }\n    }\n  ]\n}\n");
}

TEST(PerfDataItems, FilesOfSchedulerPerfAreRead) {
  // A run that was too short has null data and no unit. Integers may stand without a point.
  const Result<DataItemsDocument> read = ParseDocument<DataItemsDocument>(
      R"({"version":"v1","dataItems":[{"data":null,"unit":"","labels":{"Name":"x"}},)"
      R"({"data":{"Average":12},"unit":"ms"}]})",
      "go.json");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_TRUE(read->items[0].data.empty());
  EXPECT_EQ(read->items[1].data.at("Average"), 12);
}

TEST(PerfDataItems, FileNameHasTopicAndTime) {
  EXPECT_EQ(DataItemsFileName("basic", kTime),
            "BenchmarkPerfScheduling_benchmark_basic_2026-03-01T12:00:00Z.json");
  EXPECT_EQ(DataItemsFileName("a/b", kTime + std::chrono::milliseconds(300)),
            "BenchmarkPerfScheduling_benchmark_a_b_2026-03-01T12:00:00Z.json");
}

TEST(PerfRfc3339, FractionsOnlyWhereThereAreAny) {
  EXPECT_EQ(Rfc3339(kTime), "2026-03-01T12:00:00Z");
  EXPECT_EQ(Rfc3339(kTime + std::chrono::milliseconds(300)), "2026-03-01T12:00:00.3Z");
  EXPECT_EQ(Rfc3339(kTime + std::chrono::nanoseconds(1)), "2026-03-01T12:00:00.000000001Z");
  EXPECT_EQ(Rfc3339(Instant(-std::chrono::milliseconds(500))), "1969-12-31T23:59:59.5Z");
}

RunDocument RunWith(ClockKind clock, std::vector<DataItem> items) {
  RunDocument document;
  document.clock = clock;
  document.seed = 7;
  document.environment.machine.architecture = "aarch64";
  document.environment.machine.cpu_model = "Neoverse N1";
  document.environment.machine.cores = 2;
  WorkloadResult& result = document.workloads.emplace_back();
  result.test_case = "Scheduling Basic";
  result.workload = "500Nodes";
  for (int i = 0; i < 2; ++i) result.repetitions.emplace_back().metrics = items;
  return document;
}

TEST(PerfBenchstat, OneLineARepetition) {
  DataItem latency =
      Item("scheduler_framework_extension_point_duration_seconds", "ms", {{"Perc99", 0.25}});
  latency.labels["extension_point"] = "Score all";
  latency.labels["result"] = "not applicable";
  const RunDocument document = RunWith(
      ClockKind::kReal,
      {Item("SchedulingThroughput", "pods/s", {{"Perc50", 300}, {"Average", 336.5}}), latency});
  const std::string line =
      "BenchmarkPerfScheduling/Scheduling_Basic/500Nodes-2 1 336.5 "
      "SchedulingThroughput/Average 300 SchedulingThroughput/Perc50 0.25 "
      "scheduler_framework_extension_point_duration_ms{extension_point=Score_all}/Perc99\n";
  EXPECT_EQ(
      BenchstatText(document),
      "goos: linux\ngoarch: arm64\ncpu: Neoverse N1\npkg: schedq\nseed: 7\n"
      "Unit SchedulingThroughput/Average better=higher\n"
      "Unit SchedulingThroughput/Perc50 better=higher\n"
      "Unit scheduler_framework_extension_point_duration_ms{extension_point=Score_all}/Perc99 "
      "better=lower\n" +
          line + line);
}

// Lines of another machine stood apart from these, although the values cannot differ.
TEST(PerfBenchstat, AnExactRunSaysNothingOfTheMachine) {
  const std::string text = BenchstatText(
      RunWith(ClockKind::kVirtual, {Item("SchedulingThroughput", "pods/s", {{"Average", 5}})}));
  EXPECT_EQ(text,
            "goos: linux\npkg: schedq\nseed: 7\n"
            "Unit SchedulingThroughput/Average better=higher assume=exact\n"
            "BenchmarkPerfScheduling/Scheduling_Basic/500Nodes 1 5 SchedulingThroughput/Average\n"
            "BenchmarkPerfScheduling/Scheduling_Basic/500Nodes 1 5 SchedulingThroughput/Average\n");
}

// Two values of one unit in one line would be two measurements of one thing.
TEST(PerfBenchstat, ASecondSectionIsNamed) {
  DataItem later = Item("SchedulingThroughput", "pods/s", {{"Average", 6}});
  later.labels["Name"] = "c/w/later";
  const std::string text = BenchstatText(RunWith(
      ClockKind::kVirtual, {Item("SchedulingThroughput", "pods/s", {{"Average", 5}}), later}));
  EXPECT_THAT(text, HasSubstr(" 5 SchedulingThroughput/Average 6 "
                              "SchedulingThroughput{section=later}/Average\n"));
}

TEST(PerfBenchstat, WhatIsWrittenIsRead) {
  const std::string text = BenchstatText(
      RunWith(ClockKind::kVirtual, {Item("SchedulingThroughput", "pods/s", {{"Average", 5.25}})}));
  const Result<BenchstatFile> file = ParseBenchstat(text, "x");
  ASSERT_TRUE(file.ok()) << file.error().message();
  ASSERT_EQ(file->values.size(), 2u);
  EXPECT_EQ(file->values[0].name, "PerfScheduling/Scheduling_Basic/500Nodes");
  EXPECT_EQ(file->values[0].value, 5.25);
  EXPECT_TRUE(file->exact.contains("SchedulingThroughput/Average"));
  EXPECT_TRUE(file->higher_is_better.at("SchedulingThroughput/Average"));
  EXPECT_TRUE(IsBenchstat(text));
  EXPECT_FALSE(IsBenchstat("{}"));
}

TEST(PerfDataItems, NamesAreGos) {
  EXPECT_EQ(GoNameOf("c/w/n"), "BenchmarkPerfScheduling/c/w/n");
  for (const char* name :
       {"c/w/n", "BenchmarkPerfScheduling/c/w/n", "BenchmarkPerfSchedulingExperimental/c/w/n"}) {
    EXPECT_EQ(WithoutGoPrefix(name), "c/w/n");
  }
}

}  // namespace
}  // namespace schedq
