// Goal: results of every kind become the same list of metrics, and verdicts follow the rule of
// perf/compare/changes.h.
// Method: documents written to files and read back; samples with known verdicts.
#include "perf/compare/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/compare/report.h"
#include "perf/compare/results.h"
#include "perf/documents/data_items.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"

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
    return CompareMetrics(before, after, {});
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
  EXPECT_EQ(few.metrics.at(0).comparison.verdict, ChangeVerdict::kInconclusive);
}

TEST_F(CompareTest, ReportsShowWhatChangedAndWhatIsMissing) {
  RunDocument next = RunOf(ClockKind::kVirtual, {50});
  next.workloads[0].repetitions[0].metrics.push_back(ItemOf(1));
  next.workloads[0].repetitions[0].metrics[1].labels["Metric"] = "Other";
  const Changes changes = Compare(RunOf(ClockKind::kVirtual, {100}), next);
  const std::string text = ChangesTable(changes, false, {});
  EXPECT_THAT(text, StartsWith("1 metrics compared: 1 worse, 0 better, 0 as they were\n"));
  EXPECT_THAT(text, HasSubstr("-50.0 %"));
  EXPECT_THAT(text, HasSubstr("slower"));
  EXPECT_THAT(text, HasSubstr("only in new: C/W/n: Other Average"));
  EXPECT_THAT(ChangesMarkdown(changes, false), HasSubstr("| exact | slower |"));
  EXPECT_THAT(JunitText({ChangesJunit(changes)}), HasSubstr("failures=\"1\""));
  const Changes same = Compare(next, next);
  EXPECT_THAT(ChangesTable(same, false, {}), Not(HasSubstr("slower")));
  EXPECT_THAT(ChangesTable(same, true, {}), HasSubstr("same"));
}

}  // namespace
}  // namespace schedq
