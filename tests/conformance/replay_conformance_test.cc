// Goal: every engine does what the real kube-scheduler queue was recorded doing.
// Method: replays every trace of the folder that configuring chose (or SCHEDQ_CONFORMANCE_DIR at
// run time) on every engine and wants no mismatch. No traces is a failure. Canary: a trace with
// one altered `want` must mismatch at that line, once for each kind of answer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "bench/format/trace/replay_file.h"
#include "engine/base/result.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

std::filesystem::path RecordingsFolder() {
  const char* folder = std::getenv("SCHEDQ_CONFORMANCE_DIR");
  return folder != nullptr && *folder != '\0' ? folder : SCHEDQ_RECORDINGS;
}

// Sorted by name; empty when the folder is not there.
std::vector<std::string> TracesIn(const std::filesystem::path& folder) {
  std::vector<std::string> traces;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".jsonl") traces.push_back(entry.path().string());
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

class Conformance : public testing::TestWithParam<EngineKind> {};
INSTANTIATE_TEST_SUITE_P(Engines, Conformance, testing::ValuesIn(AllEngines()),
                         [](const testing::TestParamInfo<EngineKind>& info) {
                           return std::string(EngineName(info.param));
                         });

TEST_P(Conformance, EveryRecordingReplaysWithoutMismatch) {
  const std::vector<std::string> traces = TracesIn(RecordingsFolder());
  ASSERT_FALSE(traces.empty()) << RecordingsFolder() << " holds no *.jsonl";
  const std::clock_t started = std::clock();
  ReplayTotals sum;
  for (const std::string& trace : traces) {
    const Result<ReplayTotals> totals = ReplayFile(
        trace, GetParam(), [](const std::string& mismatch) { ADD_FAILURE() << mismatch; });
    ASSERT_TRUE(totals.ok()) << totals.error().message();
    EXPECT_GT(totals->operations, 0u) << trace;
    sum.operations += totals->operations;
    sum.mismatches += totals->mismatches;
    ASSERT_EQ(totals->mismatches, 0u) << trace;
  }
  const double seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
  std::printf("%s: %zu traces, %llu operations, %llu mismatches in %.2f s of processor time\n",
              RecordingsFolder().c_str(), traces.size(),
              static_cast<unsigned long long>(sum.operations),
              static_cast<unsigned long long>(sum.mismatches), seconds);
#ifdef NDEBUG
  EXPECT_LT(seconds, 3.0) << "for the set of 84 traces in a release build";
#endif
}

// Writes `lines` of a recording with the first line that holds `from` altered, and replays it.
class AlteredTrace : public testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override {
    const std::vector<std::string> traces = TracesIn(RecordingsFolder());
    ASSERT_FALSE(traces.empty());
    // A small one: it has every kind of operation.
    const auto small = std::find_if(traces.begin(), traces.end(), [](const std::string& trace) {
      return trace.find("small-") != std::string::npos;
    });
    std::ifstream file(small == traces.end() ? traces.front() : *small);
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
  }

  void ExpectMismatch(const std::string& op, const std::string& from, const std::string& to) {
    std::vector<std::string> altered = lines_;
    const auto line = std::find_if(altered.begin(), altered.end(), [&](const std::string& text) {
      return text.find("\"op\":\"" + op + "\"") != std::string::npos &&
             text.find(from) != std::string::npos;
    });
    ASSERT_NE(line, altered.end()) << "no " << op << " with " << from;
    line->replace(line->find(from), from.size(), to);
    const auto path = std::filesystem::path(testing::TempDir()) /
                      ("altered-" + op + "-" + std::to_string(getpid()) + "-" +
                       std::string(EngineName(GetParam())) + ".jsonl");
    std::ofstream out(path);
    for (const std::string& text : altered) out << text << '\n';
    out.close();
    std::vector<std::string> mismatches;
    const Result<ReplayTotals> totals = ReplayFile(
        path, GetParam(), [&](const std::string& mismatch) { mismatches.push_back(mismatch); });
    std::filesystem::remove(path);
    ASSERT_TRUE(totals.ok()) << totals.error().message();
    const auto number = line - altered.begin() + 1;
    const std::string place = path.string() + ":" + std::to_string(number) + ": " + op + ": ";
    ASSERT_FALSE(mismatches.empty()) << op << ": the altered answer was not noticed";
    EXPECT_EQ(mismatches.front().rfind(place, 0), 0u) << mismatches.front();
  }

 private:
  std::vector<std::string> lines_;
};
INSTANTIATE_TEST_SUITE_P(Engines, AlteredTrace, testing::ValuesIn(AllEngines()),
                         [](const testing::TestParamInfo<EngineKind>& info) {
                           return std::string(EngineName(info.param));
                         });

TEST_P(AlteredTrace, OfEachAnswerMismatches) {
  ExpectMismatch("add", ":\"active\"", ":\"unschedulable\"");
  ExpectMismatch("pop", "\"attempts\":1", "\"attempts\":2");
  ExpectMismatch("pop", "\"cycle\":1", "\"cycle\":1000");
  ExpectMismatch("fail", "\"want\":{\"changed\":{",
                 "\"want\":{\"changed\":{\"nobody\":\"active\",");
  ExpectMismatch("end", "\"active|", "\"active|x");
}

}  // namespace
}  // namespace schedq
