// Goal: `schedq replay` answers a malformed trace with one line (file, line, reason) and exit code
// 2, a mismatch with exit code 1, and a good trace with its sums.
// Method: runs the built program on small files that the test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "perf/files/temporary_folder.h"
#include "tests/support/child_process.h"

namespace schedq {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader =
    R"({"schedq_trace":1,"start":"2026-01-01T00:00:00Z","plugins":[{"name":"Fit","events":[]}]})";
constexpr const char* kAdd = R"({"op":"add","t":5,"pod":{"name":"a","uid":"u"}})";

class TraceCommand : public testing::Test {
 protected:
  std::string Write(const std::vector<std::string>& lines) {
    const std::string path = folder_.File("trace.jsonl");
    std::ofstream file(path);
    for (const std::string& line : lines) file << line << '\n';
    return path;
  }

  static ChildProcess::Ended Replay(const std::string& path) {
    return RunProgram({SCHEDQ_PROGRAM, "replay", "--engine", "classic", path});
  }

  void ExpectRefused(const std::string& path, const std::string& place, const std::string& reason) {
    const ChildProcess::Ended ended = Replay(path);
    SCOPED_TRACE(ended.err);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr(path + place));
    EXPECT_THAT(ended.err, HasSubstr(reason));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  }
  void ExpectLinesRefused(const std::vector<std::string>& lines, const std::string& reason) {
    ExpectRefused(Write(lines), ":" + std::to_string(lines.size()) + ": ", reason);
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::Make());
};

TEST_F(TraceCommand, RefusesMalformedTracesInOneLine) {
  ExpectRefused(folder_.path(), ": ", "expected a trace");
  ExpectRefused(folder_.File("absent.jsonl"), ": ", "expected a trace");
  ExpectRefused(Write({}), ": ", "expected a trace");
  ExpectLinesRefused({kAdd}, "schedq_trace is missing");
  ExpectLinesRefused({kHeader, "{\"op\":"}, "not JSON");
  ExpectLinesRefused({kHeader, ""}, "not JSON");
  ExpectLinesRefused({kHeader, R"({"op":"hop","t":1})"}, "unknown op hop");
  ExpectLinesRefused({kHeader, R"({"op":"pop","t":1,"x":2})"}, "unknown field x");
  ExpectLinesRefused({R"({"schedq_trace":1,"start":"2026-01-01T00:00:00Z","plugins":[)"
                      R"({"name":"Fit","pre_enqueue":"never","events":[]}]})"},
                     "unknown pre_enqueue kind");
  ExpectLinesRefused({kHeader, R"({"op":"pop","t":"now"})"}, "expected an integer");
  ExpectLinesRefused({kHeader, kAdd, R"({"op":"pop","t":4})"}, "time runs backwards");
  ExpectLinesRefused({kHeader, kAdd, R"({"op":"bind","t":6,"pod":"b"})"}, "no pod named b");
  ExpectLinesRefused(
      {kHeader, kAdd, R"({"op":"delete","t":6,"pod":"a"})", R"({"op":"fail","t":6,"pod":"a"})"},
      "neither live nor in flight");
  ExpectLinesRefused({kHeader, kAdd, R"({"op":"fail","t":6,"pod":"a","pending":["Fat"]})"},
                     "unknown plugin Fat");
  ExpectLinesRefused({kHeader, kAdd, kAdd}, "live already");
}

TEST_F(TraceCommand, SaysWhereAMismatchIsAndSums) {
  const std::string good = R"({"op":"pop","t":6,"want":{"changed":{"a":"in-flight"},"pod":"a",)"
                           R"("attempts":1,"cycle":1}})";
  const ChildProcess::Ended passed = Replay(Write({kHeader, kAdd, good}));
  EXPECT_EQ(passed.exit_code, 0);
  EXPECT_EQ(passed.out, "1 traces, 2 operations, 0 mismatches\n");
  EXPECT_EQ(passed.err, "");

  const std::string bad = R"({"op":"pop","t":6,"want":{"changed":{"a":"in-flight"},"pod":"b",)"
                          R"("attempts":1,"cycle":1}})";
  const std::string path = Write({kHeader, kAdd, bad});
  const ChildProcess::Ended mismatched = Replay(path);
  EXPECT_EQ(mismatched.exit_code, 1);
  EXPECT_EQ(mismatched.out,
            path + ":3: pop: pod: wanted b, got a\n" + "1 traces, 2 operations, 1 mismatches\n");
}

}  // namespace
}  // namespace schedq
