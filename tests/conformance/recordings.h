// What the tests of recordings share: a folder of traces is replayed on an engine without a
// mismatch, and a trace with one altered `want` mismatches at that line.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
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

// Sorted by name; empty when the folder is not there.
inline std::vector<std::string> TracesIn(const std::filesystem::path& folder) {
  std::vector<std::string> traces;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".jsonl") traces.push_back(entry.path().string());
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

// Wants no mismatch in any of the folder's traces, of which there must be some. Returns the
// processor time in seconds.
inline double ExpectReplays(const std::filesystem::path& folder, EngineKind engine) {
  const std::vector<std::string> traces = TracesIn(folder);
  EXPECT_FALSE(traces.empty()) << folder << " holds no *.jsonl";
  const std::clock_t started = std::clock();
  ReplayTotals sum;
  for (const std::string& trace : traces) {
    const Result<ReplayTotals> totals =
        ReplayFile(trace, engine, [](const std::string& mismatch) { ADD_FAILURE() << mismatch; });
    if (!totals.ok()) {
      ADD_FAILURE() << totals.error().message();
      break;
    }
    EXPECT_GT(totals->operations, 0u) << trace;
    sum.operations += totals->operations;
    sum.mismatches += totals->mismatches;
    if (totals->mismatches > 0) break;
  }
  const double seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
  std::printf("%s: %zu traces, %llu operations, %llu mismatches in %.2f s of processor time\n",
              folder.c_str(), traces.size(), static_cast<unsigned long long>(sum.operations),
              static_cast<unsigned long long>(sum.mismatches), seconds);
  return seconds;
}

inline std::string EngineOfTest(const testing::TestParamInfo<EngineKind>& info) {
  return std::string(EngineName(info.param));
}

// The folder's first trace whose name holds `name`, else its first.
class AlteredTrace {
 public:
  AlteredTrace(const std::filesystem::path& folder, const std::string& name, EngineKind engine)
      : engine_(engine) {
    const std::vector<std::string> traces = TracesIn(folder);
    if (traces.empty()) return;  // Then every expectation fails.
    const auto named = std::find_if(traces.begin(), traces.end(), [&](const std::string& trace) {
      return trace.find(name) != std::string::npos;
    });
    std::ifstream file(named == traces.end() ? traces.front() : *named);
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
  }

  // Replaces `from` in the first line of `op` that holds it, and replays the trace.
  void ExpectMismatch(const std::string& op, const std::string& from, const std::string& to) const {
    std::vector<std::string> altered = lines_;
    const auto line = std::find_if(altered.begin(), altered.end(), [&](const std::string& text) {
      return text.find("\"op\":\"" + op + "\"") != std::string::npos &&
             text.find(from) != std::string::npos;
    });
    ASSERT_NE(line, altered.end()) << "no " << op << " with " << from;
    line->replace(line->find(from), from.size(), to);
    const auto path = std::filesystem::path(testing::TempDir()) /
                      ("altered-" + op + "-" + std::to_string(getpid()) + "-" +
                       std::string(EngineName(engine_)) + ".jsonl");
    std::ofstream out(path);
    for (const std::string& text : altered) out << text << '\n';
    out.close();
    std::vector<std::string> mismatches;
    const Result<ReplayTotals> totals = ReplayFile(
        path, engine_, [&](const std::string& mismatch) { mismatches.push_back(mismatch); });
    std::filesystem::remove(path);
    ASSERT_TRUE(totals.ok()) << totals.error().message();
    const auto number = line - altered.begin() + 1;
    const std::string place = path.string() + ":" + std::to_string(number) + ": " + op + ": ";
    ASSERT_FALSE(mismatches.empty()) << op << ": the altered answer was not noticed";
    EXPECT_EQ(mismatches.front().rfind(place, 0), 0u) << mismatches.front();
  }

 private:
  const EngineKind engine_;
  std::vector<std::string> lines_;
};

}  // namespace schedq
