// Goal: files of measured runs are read whole and strictly: each fault is one line with its place.
// Method: one good file, and the same file with one fault each.
#include "perf/documents/upstream_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "tests/support/upstream_file.h"

namespace schedq {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

json Good() { return UpstreamFileJson("Case", "W"); }

TEST(UpstreamRunsTest, AGoodFileIsReadWhole) {
  json file = Good();
  file["gates"] = {{"SchedulerAsyncAPICalls", true}};
  file["gates_forced"] = "SchedulerPopFromBackoffQ=false";
  const Result<UpstreamRuns> runs = ParseUpstreamRuns(file.dump(), "folder/w.json");
  ASSERT_TRUE(runs.ok()) << runs.error().message();
  EXPECT_EQ(runs->file, "w.json");
  EXPECT_EQ(runs->Name(), "Case/W");
  EXPECT_THAT(runs->gates, ElementsAre(Pair("SchedulerAsyncAPICalls", true),
                                       Pair("SchedulerPopFromBackoffQ", false)));
  EXPECT_THAT(runs->gates_forced, ElementsAre(Pair("SchedulerPopFromBackoffQ", false)));
  ASSERT_EQ(runs->runs.size(), 1u);
  const UpstreamRun& run = runs->runs[0];
  EXPECT_EQ(run.attempts.at("unschedulable"), 20u);
  EXPECT_EQ(run.incoming_pods.at("backoff|AssignedPodDelete"), 20u);
  EXPECT_EQ(run.hints.at("NodeResourcesFit|AssignedPodDelete|Queue"), 20u);
  EXPECT_TRUE(run.has_throughput);
  EXPECT_DOUBLE_EQ(run.busy_by_others_cores, 0.01);
  ASSERT_EQ(run.sections.size(), 1u);
  EXPECT_EQ(run.sections[0].pods_bound, 100u);
  EXPECT_DOUBLE_EQ(run.sections[0].seconds, 2);
}

TEST(UpstreamRunsTest, EachFaultIsOneLineWithItsPlace) {
  const std::vector<std::pair<std::function<void(json&)>, std::string>> faults = {
      {[](json& file) { file["schedq_upstream"] = 2; }, "schedq_upstream: expected version 1"},
      {[](json& file) { file.erase("schedq_upstream"); }, "\"schedq_upstream\", which is missing"},
      {[](json& file) { file.erase("cores"); }, "\"cores\", which is missing"},
      {[](json& file) { file["surplus"] = 1; }, "surplus: unknown key"},
      {[](json& file) { file["case"] = 1; }, "case: expected a string"},
      {[](json& file) {
         file["gates"] = {{"A", "on"}};
       },
       "gates.A: expected true or false"},
      {[](json& file) { file["gates_forced"] = "A"; }, "gates_forced: expected NAME=true or"},
      {[](json& file) { file["gates_forced"] = "A=true,A=false"; }, "gates_forced: expected"},
      {[](json& file) { file["gates_forced"] = ""; }, "gates_forced: expected NAME=true or"},
      {[](json& file) { file["runs"] = json::array(); }, "runs: expected at least one"},
      {[](json& file) { file["runs"] = 1; }, "runs: expected an array"},
      {[](json& file) { file["runs"][0] = 1; }, "runs[0]: expected an object"},
      {[](json& file) { file["runs"][0].erase("hints"); }, "\"hints\", which is missing"},
      {[](json& file) { file["runs"][0]["more"] = 1; }, "runs[0].more: unknown key"},
      {[](json& file) { file["runs"][0]["attempts"]["scheduled"] = -1; },
       "runs[0].attempts.scheduled: expected a whole number from 0, got -1"},
      {[](json& file) { file["runs"][0]["hints"]["A|B|C"] = 1; },
       "runs[0].hints.A|B|C: expected a count and seconds"},
      {[](json& file) {
         file["runs"][0]["hints"]["A|B"] = {1, 0.5};
       },
       "runs[0].hints.A|B: expected the key plugin|event|answer"},
      {[](json& file) { file["runs"][0]["sections"][0].erase("pods_bound"); },
       "\"pods_bound\", which is missing"},
      {[](json& file) { file["runs"][0]["sections"][0]["first_activity_to_last_bind_s"] = -1; },
       "expected first_activity_to_last_bind_s from 0"},
      {[](json& file) { file["runs"][0]["pods_per_s"] = 3; }, "pods_per_s: expected an array"},
  };
  for (const auto& [plant, expected] : faults) {
    json file = Good();
    plant(file);
    const Result<UpstreamRuns> runs = ParseUpstreamRuns(file.dump(), "w.json");
    ASSERT_FALSE(runs.ok()) << expected;
    EXPECT_THAT(runs.error().message(), StartsWith("w.json: "));
    EXPECT_THAT(runs.error().message(), HasSubstr(expected));
    EXPECT_THAT(runs.error().message(), Not(HasSubstr("\n")));
  }
  EXPECT_THAT(ParseUpstreamRuns("{", "w.json").error().message(), HasSubstr("valid JSON"));
  EXPECT_THAT(ParseUpstreamRuns("[]", "w.json").error().message(), HasSubstr("an object"));
}

class UpstreamFolderTest : public testing::Test {
 protected:
  void Put(const std::string& name, const json& file) const {
    ASSERT_TRUE(WriteFileAtomically(folder_.File(name), file.dump()).ok());
  }
  Result<std::vector<UpstreamRuns>> Read() const { return ReadUpstreamFolder(folder_.path()); }
  void ExpectError(const std::string& expected) const {
    const auto all = Read();
    ASSERT_FALSE(all.ok()) << expected;
    EXPECT_THAT(all.error().message(), HasSubstr(expected));
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

TEST_F(UpstreamFolderTest, EveryJsonFileCountsInTheOrderOfNames) {
  Put("b.json", UpstreamFileJson("Case", "B"));
  Put("a.json", UpstreamFileJson("Case", "A"));
  Put("README.md", "no reference");
  const auto all = Read();
  ASSERT_TRUE(all.ok()) << all.error().message();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].workload, "A");
}

TEST_F(UpstreamFolderTest, WhatCannotBeAReferenceIsRefused) {
  ExpectError("holds no .json file");
  Put("a.json", UpstreamFileJson("Case", "A"));
  Put("again.json", UpstreamFileJson("Case", "A"));
  ExpectError("again.json: is of Case/A with the gates of ");
  json other = UpstreamFileJson("Case", "A");
  other["gates_forced"] = "SchedulerPopFromBackoffQ=false";
  Put("again.json", other);
  EXPECT_TRUE(Read().ok()) << "other gates are another reference";
  Put("bad.json", json::object());
  ExpectError("bad.json: ");
  EXPECT_THAT(ReadUpstreamFolder("/absent-folder").error().message(), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace schedq
