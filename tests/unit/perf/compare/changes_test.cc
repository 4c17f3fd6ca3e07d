// Goal: results of every kind become the same list of metrics, and verdicts follow the rule of
// perf/compare/changes.h.
// Method: documents written to files and read back; samples with known verdicts.
#include "perf/compare/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/compare/changes_report.h"
#include "perf/compare/junit.h"
#include "perf/compare/results.h"
#include "perf/documents/data_items.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "perf/statistics/comparison.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

DataItem ItemOf(double value) {
  DataItem item;
  item.data = {{"Average", value}};
  item.unit = "pods/s";
  item.labels = {
      {"Metric", "SchedulingThroughput"}, {"Name", "C/W/n"}, {"event", "not applicable"}};
  return item;
}

RunDocument RunOf(ClockKind clock, const std::vector<double>& values) {
  RunDocument document;
  document.clock = clock;
  WorkloadResult& result = document.workloads.emplace_back();
  result.test_case = "C";
  result.workload = "W";
  for (const double value : values) {
    result.repetitions.emplace_back().metrics.push_back(ItemOf(value));
  }
  return document;
}

class CompareTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.File(name); }

  static Changes Compare(const RunDocument& base, const RunDocument& next) {
    Results before;
    Results after;
    AddRun(base, &before);
    AddRun(next, &after);
    Result<Changes> changes = CompareMetrics(before, after);
    EXPECT_TRUE(changes.ok()) << changes.error().message();
    return std::move(*changes);
  }
  static std::string Refused(const RunDocument& base, const RunDocument& next) {
    Results before;
    Results after;
    before.path = "before";
    after.path = "after";
    AddRun(base, &before);
    AddRun(next, &after);
    const Result<Changes> changes = CompareMetrics(before, after);
    return changes ? std::string() : changes.error().message();
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

TEST_F(CompareTest, AFolderOfGoResultsIsOneRepetitionAFile) {
  for (int i = 0; i < 3; ++i) {
    DataItemsDocument document;
    document.items = {ItemOf(100 + i)};
    ASSERT_TRUE(WriteDocument(document, Path("go/run" + std::to_string(i) + ".json")).ok());
  }
  const Result<Results> results = ReadResults(Path("go"));
  ASSERT_TRUE(results.ok()) << results.error().message();
  EXPECT_THAT(results->metrics.at("C/W/n: SchedulingThroughput Average").values,
              ElementsAre(100, 101, 102));
  EXPECT_FALSE(results->is_exact());
}

TEST_F(CompareTest, OurFilesGoBeforeDataItemsBesideThem) {
  DataItemsDocument items;
  items.items = {ItemOf(1)};
  ASSERT_TRUE(WriteDocument(items, Path("x/BenchmarkPerfScheduling.json")).ok());
  ASSERT_TRUE(WriteDocument(RunOf(ClockKind::kVirtual, {5}), Path("x/results.json")).ok());
  const Result<Results> results = ReadResults(Path("x"));
  ASSERT_TRUE(results.ok()) << results.error().message();
  EXPECT_THAT(results->metrics.at("C/W/n: SchedulingThroughput Average").values, ElementsAre(5));
  EXPECT_TRUE(results->is_exact());
}

TEST_F(CompareTest, WhatIsNoResultIsAnErrorThatNamesIt) {
  ASSERT_TRUE(WriteFileAtomically(Path("a.json"), "{\"x\": 1}").ok());
  EXPECT_THAT(ReadResults(Path("a.json")).error().message(), HasSubstr("a.json: is no result"));
  EXPECT_THAT(ReadResults(Path("absent")).error().message(), HasSubstr("absent"));
  std::filesystem::create_directory(Path("empty"));
  EXPECT_THAT(ReadResults(Path("empty")).error().message(), HasSubstr("holds no results"));
}

TEST_F(CompareTest, VirtualRunsAreExact) {
  const auto verdict = [](double after) {
    const Changes changes =
        Compare(RunOf(ClockKind::kVirtual, {100}), RunOf(ClockKind::kVirtual, {after}));
    return changes.metrics.at(0).comparison.verdict;
  };
  EXPECT_EQ(verdict(100), ChangeVerdict::kSame);
  EXPECT_EQ(verdict(97), ChangeVerdict::kSame) << "within the threshold";
  EXPECT_EQ(verdict(90), ChangeVerdict::kWorse);
  EXPECT_EQ(verdict(110), ChangeVerdict::kBetter);
}

TEST_F(CompareTest, RealRunsNeedEvidence) {
  std::vector<double> base;
  std::vector<double> slower;
  for (int i = 0; i < 12; ++i) {
    base.push_back(100 + i % 3);
    slower.push_back(80 + i % 3);
  }
  const RunDocument before = RunOf(ClockKind::kReal, base);
  EXPECT_TRUE(Compare(before, RunOf(ClockKind::kReal, slower)).AnyWorse());
  EXPECT_FALSE(Compare(before, before).AnyWorse());
  const Changes few = Compare(RunOf(ClockKind::kReal, {100}), RunOf(ClockKind::kReal, {50}));
  EXPECT_EQ(few.metrics.at(0).comparison.verdict, ChangeVerdict::kCannotTell);
}

TEST_F(CompareTest, ReportsShowWhatChangedAndWhatIsMissing) {
  RunDocument next = RunOf(ClockKind::kVirtual, {50});
  next.workloads[0].repetitions[0].metrics.push_back(ItemOf(1));
  next.workloads[0].repetitions[0].metrics[1].labels["Metric"] = "Other";
  const Changes changes = Compare(RunOf(ClockKind::kVirtual, {100}), next);
  const std::string text = ChangesTable(changes, false, {});
  EXPECT_THAT(text, StartsWith("1 metrics compared: 1 worse, 0 better, 0 as they were, 0 cannot "
                               "tell\nexact values"));
  EXPECT_THAT(text, HasSubstr("-50.0 %"));
  EXPECT_THAT(text, HasSubstr("slower"));
  EXPECT_THAT(text, HasSubstr("only in new: C/W/n: Other Average"));
  EXPECT_THAT(ChangesMarkdown(changes, false), HasSubstr("| exact | slower |"));
  EXPECT_THAT(JunitText({ChangesJunit(changes, {{"C/W", 2.5}}, false)}),
              HasSubstr("name=\"C/W/n\" time=\"2.500\">\n    <failure message=\"-50.0 %\">exact<"));
  const Changes same = Compare(next, next);
  EXPECT_THAT(ChangesTable(same, false, {}), Not(HasSubstr("slower")));
  EXPECT_THAT(ChangesTable(same, true, {}), HasSubstr("same"));
}

// Go names a workload with its benchmark and, in its output, with the number of processors.
TEST_F(CompareTest, NamesOfGoAndOursAreTheSame) {
  DataItemsDocument items;
  items.items = {ItemOf(100)};
  items.items[0].labels["Name"] = "BenchmarkPerfScheduling/C/W/n";
  ASSERT_TRUE(WriteDocument(items, Path("go/run.json")).ok());
  items.items[0].labels["Name"] = "BenchmarkPerfSchedulingExperimental/C/W/n";
  ASSERT_TRUE(WriteDocument(items, Path("other/run.json")).ok());
  for (const char* folder : {"go", "other"}) {
    const Result<Results> results = ReadResults(Path(folder));
    ASSERT_TRUE(results.ok()) << results.error().message();
    EXPECT_EQ(results->metrics.at("C/W/n: SchedulingThroughput Average").place, "C/W/n");
  }
}

TEST_F(CompareTest, OutputOfGoBenchmarksIsRead) {
  ASSERT_TRUE(WriteFileAtomically(
                  Path("go/a.txt"),
                  "goos: linux\nUnit SchedulingThroughput/Average better=higher\n"
                  "BenchmarkPerfScheduling/C/W-8\n"
                  "BenchmarkPerfScheduling/C/W-8   1   300.5 SchedulingThroughput/Average 0.25 "
                  "scheduler_x_ms/Perc99\nPASS\n")
                  .ok());
  ASSERT_TRUE(
      WriteFileAtomically(Path("go/b.txt"),
                          "BenchmarkPerfScheduling/C/W-8 1 301.5 SchedulingThroughput/Average\n")
          .ok());
  const Result<Results> results = ReadResults(Path("go"));
  ASSERT_TRUE(results.ok()) << results.error().message();
  const ResultMetric& throughput = results->metrics.at("C/W: SchedulingThroughput Average");
  EXPECT_THAT(throughput.values, ElementsAre(300.5, 301.5));
  EXPECT_TRUE(throughput.is_asked_for);
  EXPECT_FALSE(results->metrics.at("C/W: scheduler_x_ms Perc99").is_asked_for);
  for (const char* bad : {"BenchmarkX 1 2\n", "BenchmarkX one 2 ns/op\n",
                          "BenchmarkX 1 two ns/op\n", "BenchmarkX 1\n", "Unit x better\n",
                          "Unit x better=higher\nUnit x better=lower\n", "BenchmarkX\n"}) {
    ASSERT_TRUE(WriteFileAtomically(Path("bad.txt"), bad).ok());
    EXPECT_FALSE(ReadResults(Path("bad.txt")).ok()) << bad;
  }
}

// What a threshold selects is a hypothesis of its own, in the direction that the file says.
TEST_F(CompareTest, AThresholdsMetricIsTested) {
  RunDocument base = RunOf(ClockKind::kVirtual, {100});
  DataItem item = ItemOf(5);
  item.unit = "things";
  item.labels["Metric"] = "Things";
  base.workloads[0].repetitions[0].metrics.push_back(item);
  item.labels["Metric"] = "ThingsElsewhere";
  base.workloads[0].repetitions[0].metrics.push_back(item);
  RunDocument next = base;
  next.workloads[0].repetitions[0].metrics[1].data["Average"] = 4;
  next.workloads[0].repetitions[0].metrics[2].data["Average"] = 4;
  EXPECT_FALSE(Compare(base, next).AnyWorse());
  ThresholdOutcome threshold;
  threshold.metric = "Things";
  threshold.bucket = "Average";
  threshold.measured = 5;
  base.workloads[0].thresholds.push_back(threshold);
  const Changes changes = Compare(base, next);
  EXPECT_EQ(changes.Tested(), 2u);
  EXPECT_EQ(changes.CountOf(ChangeVerdict::kWorse), 1u);
  EXPECT_THAT(ChangesTable(changes, false, {}), HasSubstr("C/W/n: Things Average"));
  EXPECT_THAT(ChangesTable(changes, false, {}), Not(HasSubstr("ThingsElsewhere")));
  EXPECT_THAT(ChangesTable(changes, true, {}), HasSubstr("ThingsElsewhere"));
}

// 6 runs against 6, 7.6 to 10.1 % slower: 51 metrics had one correction, and none was found.
TEST_F(CompareTest, SixRunsFindARegressionOfThreeWorkloads) {
  const std::vector<double> noise = {0.2, -0.5, 0.9, -1.1, 0.4, 0.1};  // Percent.
  const auto run = [&](const std::vector<double>& rates) {
    RunDocument document = RunOf(ClockKind::kReal, {});
    document.workloads.resize(rates.size(), document.workloads[0]);
    for (size_t i = 0; i < rates.size(); ++i) {
      WorkloadResult& result = document.workloads[i];
      result.workload = "W" + std::to_string(i);
      for (const double percent : noise) {
        Repetition& repetition = result.repetitions.emplace_back();
        repetition.metrics = {ItemOf(rates[i] * (1 + percent / 100))};
        DataItem& item = repetition.metrics[0];
        item.labels["Name"] = "C/" + result.workload + "/n";
        for (const char* bucket : {"Perc50", "Perc90", "Perc95", "Perc99"}) {
          item.data[bucket] = item.data["Average"];
        }
        for (const char* operation : {"pod_added", "pod_popped", "pod_scheduled"}) {
          repetition.latencies[operation].p50_ns = 1000;
        }
      }
    }
    return document;
  };
  const Changes changes = Compare(run({1000, 2000, 3000}), run({924, 1820, 2697}));
  EXPECT_EQ(changes.Tested(), 3u);
  EXPECT_EQ(changes.CountOf(ChangeVerdict::kWorse), 3u);
  const std::string text = ChangesTable(changes, false, {false, true, 160});
  EXPECT_THAT(text, HasSubstr("corrected (Holm) for 3 tested metrics"));
  EXPECT_THAT(text, HasSubstr("39 other metrics are not tested, 12 of them changed; --all"));
  EXPECT_THAT(text, HasSubstr("6 + 6"));
}

TEST_F(CompareTest, OtherWorkIsRefused) {
  const RunDocument base = RunOf(ClockKind::kVirtual, {100});
  RunDocument next = base;
  next.seed = 2;
  EXPECT_EQ(Refused(base, next),
            "before and after cannot be compared: seed 0 before and 2 after, expected the same");
  next = base;
  next.workloads[0].definition = "d";
  EXPECT_THAT(Refused(base, next), HasSubstr("the files of C/W"));
  next = base;
  next.clock = ClockKind::kReal;
  EXPECT_THAT(Refused(base, next), HasSubstr("clock virtual before and real after"));
  next = base;
  next.workloads[0].repetitions[0].metrics[0].labels["Metric"] = "Other";
  EXPECT_THAT(Refused(base, next), HasSubstr("no metric in common"));
  EXPECT_THAT(Refused(next, next), HasSubstr("expected --metric REGEX"));
}

TEST_F(CompareTest, WhatElseDiffersIsSaid) {
  RunDocument base = RunOf(ClockKind::kVirtual, {100});
  base.gates = {{"SchedulerPopFromBackoffQ", true}};
  base.workloads[0].gates = {{"SchedulerPopFromBackoffQ", true}, {"GenericWorkload", false}};
  base.cost_model = "upstream";
  RunDocument next = base;
  next.gates["SchedulerPopFromBackoffQ"] = false;
  next.workloads[0].gates = {{"SchedulerPopFromBackoffQ", false}, {"GenericWorkload", true}};
  next.cost_model = "mine";
  next.engine = "classic";
  EXPECT_THAT(
      Compare(base, next).differences,
      ElementsAre("engine:  before, classic after", "cost model: upstream before, mine after",
                  "gate SchedulerPopFromBackoffQ: true before, false after",
                  "gate GenericWorkload: false before, true after, in 1 workloads"));
  EXPECT_THAT(ChangesTable(Compare(base, next), false, {}),
              HasSubstr("differs: cost model: upstream before, mine after\n"));
}

}  // namespace
}  // namespace schedq
