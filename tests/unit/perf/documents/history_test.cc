// Goal: stored runs are read back as they were, Otava's CSV goes both ways, and what is damaged is
// named with its line.
// Method: values written and read; files with one fault each.
#include "perf/documents/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"

namespace schedq {
namespace {

using testing::HasSubstr;

HistoryRun RunOf(const std::string& commit, double value) {
  return {"2026-01-01T00:00:00Z", commit, {{"C/W, \"n\"", {value, "pods/s"}}, {"x", {2, ""}}}};
}

TEST(PerfHistory, WhatIsAppendedIsRead) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const std::string store = folder.File("a/b");
  ASSERT_TRUE(AppendToHistory(store, {RunOf("one", 1.5)}).ok());
  ASSERT_TRUE(AppendToHistory(store, {RunOf("two", 1e-7), RunOf("three", 3)}).ok());
  const Result<std::vector<HistoryRun>> runs =
      ParseHistory(*ReadWholeFile(store + "/history.jsonl"), "h");
  ASSERT_TRUE(runs.ok()) << runs.error().message();
  ASSERT_EQ(runs->size(), 3u);
  EXPECT_EQ((*runs)[1].commit, "two");
  EXPECT_EQ((*runs)[1].series.at("C/W, \"n\"").value, 1e-7);
  EXPECT_EQ((*runs)[1].series.at("C/W, \"n\"").unit, "pods/s");
}

TEST(PerfHistory, WhatIsDamagedIsNamedWithItsLine) {
  const std::string line = *HistoryLine(RunOf("one", 1));
  EXPECT_THAT(ParseHistory(line + "\n" + line.substr(0, 20), "h").error().message(),
              HasSubstr("h:2: "));
  EXPECT_THAT(ParseHistory("{\"schedq_history\":2}", "h").error().message(), HasSubstr("h:1: "));
  EXPECT_FALSE(HistoryLine(RunOf("one", std::numeric_limits<double>::infinity())).ok());
}

TEST(PerfHistory, OtavasCsvGoesBothWays) {
  std::vector<HistoryRun> runs = {RunOf("one", 1.5), RunOf("two", 2.5)};
  runs[1].series.erase("x");
  const std::string text = OtavaCsv(runs);
  EXPECT_EQ(text,
            "time,commit,\"C/W, \"\"n\"\"\",x\n2026-01-01T00:00:00Z,one,1.5,2\n"
            "2026-01-01T00:00:00Z,two,2.5,\n");
  const Result<std::vector<HistoryRun>> read = ParseOtavaCsv(text, "o");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ((*read)[0].series.at("C/W, \"n\"").value, 1.5);
  EXPECT_FALSE((*read)[1].series.contains("x"));
  EXPECT_EQ(OtavaCsv(*read), text);
  // As Otava's own example has it, with a column of texts.
  const Result<std::vector<HistoryRun>> other =
      ParseOtavaCsv("time,commit,branch,m1\r\n2021-01-01T02:00:00Z,aaa0,main,154023\r\n", "o");
  ASSERT_TRUE(other.ok());
  EXPECT_EQ((*other)[0].series.size(), 1u);
  EXPECT_EQ((*other)[0].series.at("m1").value, 154023);
}

TEST(PerfHistory, OtherCsvIsRefused) {
  for (const char* bad : {"", "a,b\n1,2\n", "time,commit,m,m\n", "time,commit,m\nt,c\n",
                          "time,commit,\"m\nt,c,1\n"}) {
    EXPECT_FALSE(ParseOtavaCsv(bad, "o").ok()) << bad;
  }
}

}  // namespace
}  // namespace schedq
