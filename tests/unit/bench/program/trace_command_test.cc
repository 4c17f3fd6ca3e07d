// Goal: `schedq replay` answers a malformed trace with one line (file, line, reason) and exit code
// 2, a mismatch with exit code 1, and a good trace with its sums.
// Method: runs the built program on small files that the test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

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

constexpr const char* kPop = R"({"op":"pop","t":6,"want":{"changed":{"a":"in-flight"},"pod":"a",)"
                             R"("attempts":1,"cycle":1}})";
constexpr const char* kEnd = R"({"op":"end","t":9})";

class TraceCommand : public testing::Test {
 protected:
  std::string Write(const std::vector<std::string>& lines) {
    std::string path = folder_.File("trace.jsonl");
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
  ExpectRefused(folder_.path(), ": ", "is a folder, expected a file");
  ExpectRefused(folder_.File("absent.jsonl"), ": ", "does not exist, expected a readable file");
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
  const ChildProcess::Ended passed = Replay(Write({kHeader, kAdd, kPop, kEnd}));
  EXPECT_EQ(passed.exit_code, 0);
  EXPECT_EQ(passed.out, "1 traces, 3 operations, 0 mismatches\n");
  EXPECT_EQ(passed.err, "");

  const std::string bad = R"({"op":"pop","t":6,"want":{"changed":{"a":"in-flight"},"pod":"b",)"
                          R"("attempts":1,"cycle":1}})";
  const std::string path = Write({kHeader, kAdd, bad, kEnd});
  const ChildProcess::Ended mismatched = Replay(path);
  EXPECT_EQ(mismatched.exit_code, 1);
  EXPECT_EQ(mismatched.out,
            path + ":3: pop: pod: wanted b, got a\n" + "1 traces, 3 operations, 1 mismatches\n");
}

// A recording that was cut passed with what was left of it.
TEST_F(TraceCommand, RefusesATraceWithoutItsEnd) {
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {kHeader}, {kHeader, kAdd}, {kHeader, kAdd, R"({"op":"pop","t":6})"}}) {
    const std::string path = Write(lines);
    ExpectRefused(path, ":" + std::to_string(lines.size() + 1) + ": ",
                  "expected the operation end");
  }
  ExpectLinesRefused({kHeader, kEnd, kAdd}, "behind the end");
}

TEST_F(TraceCommand, RefusesATraceThatChecksNothing) {
  ExpectRefused(Write({kHeader, kAdd, kEnd}), ": ", "wants nothing");
}

TEST_F(TraceCommand, RefusesJsonThatIsNestedWithoutEnd) {
  const std::string deep = R"({"op":"pop","t":1,"want":)" + std::string(200'000, '[');
  ExpectLinesRefused({kHeader, deep}, "nested deeper than 100 levels");
  ExpectLinesRefused({std::string(200'000, '[')}, "nested deeper than 100 levels");
  // A value that a message would print.
  ExpectLinesRefused({R"({"schedq_trace":1,"start":"2026-01-01T00:00:00Z","plugins":[{"name":"A",)"
                      R"("events":[{"on":"Node","actions":[)" +
                      std::string(200'000, '[') + std::string(200'000, ']') + "]}]}]}"},
                     "nested deeper than 100 levels");
}

TEST_F(TraceCommand, ShowsEscapeSequencesOfNamesAsText) {
  const std::string path = Write(
      {kHeader, R"({"op":"add","t":5,"pod":{"name":"a\u001b[31m","uid":"u"}})",
       R"({"op":"pop","t":6,"want":{"changed":{},"pod":"b\u001b[2J","attempts":1,"cycle":1}})",
       kEnd});
  const ChildProcess::Ended ended = Replay(path);
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("pop: pod: wanted b\\x1b[2J, got a\\x1b[31m"));
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos);
  ExpectLinesRefused({kHeader, R"({"op":"\u001b[31m","t":1})"}, "unknown op \\x1b[31m");
}

TEST_F(TraceCommand, RefusesRepeatedKeysAndNumbersBeyondTheirType) {
  ExpectLinesRefused({kHeader, R"({"op":"pop","op":"end","t":1})"}, "got \"op\" twice");
  ExpectLinesRefused({kHeader, R"({"op":"add","t":1,"pod":{"name":"a","uid":"u","uid":"v"}})"},
                     "got \"uid\" twice");
  ExpectLinesRefused({kHeader, R"({"op":"end","t":1,"want":{"changed":{},"scheduling_cycle":)"
                               R"(18446744073709551615,"queue_incoming_pods_total":{}}})"},
                     "scheduling_cycle is out of range");
  ExpectLinesRefused({kHeader, R"({"op":"end","t":1,"want":{"changed":{},"scheduling_cycle":1,)"
                               R"("queue_incoming_pods_total":{"a|b":18446744073709551615}}})"},
                     "not an integer of 64 bits");
}

// A misspelt gate was a gate that is not modelled, and the trace was judged without it.
TEST_F(TraceCommand, RefusesGatesThatAreNone) {
  const auto header = [](const std::string& gate) {
    return R"({"schedq_trace":1,"start":"2026-01-01T00:00:00Z","gates":{")" + gate +
           R"(":true},"plugins":[{"name":"Fit","events":[]}]})";
  };
  ExpectLinesRefused({header("SchedulerPopFromBackofQ")},
                     "gates: unknown feature gate 'SchedulerPopFromBackofQ', expected a gate of "
                     "Kubernetes; did you mean 'SchedulerPopFromBackoffQ'?");
  // One that no queue looks at has no effect, and that is said.
  const ChildProcess::Ended ended = Replay(Write({header("CPUManager"), kAdd, kPop, kEnd}));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "not modelled, without effect in 1 traces: feature gate CPUManager\n"
            "1 traces, 3 operations, 0 mismatches\n");
}

// Reading these blocked, or never ended.
TEST_F(TraceCommand, RefusesPipesAndDevicesAndReadsStandardInputByChoice) {
  const std::string fifo = folder_.File("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ExpectRefused(fifo, ": ", "is a pipe, expected a file, or - for standard input");
  ExpectRefused("/dev/zero", ": ", "is a device");
  const std::string path = Write({kHeader, kAdd, kPop, kEnd});
  const auto through_a_pipe = [](const std::string& file, const std::string& flags) {
    return RunProgram({"/bin/sh", "-c", "cat " + file + " | " SCHEDQ_PROGRAM " replay " + flags});
  };
  const ChildProcess::Ended piped = through_a_pipe(path, "--engine classic -");
  EXPECT_EQ(piped.exit_code, 0);
  EXPECT_EQ(piped.out, "1 traces, 3 operations, 0 mismatches\n");
  const ChildProcess::Ended twice = through_a_pipe(path, "--engine both -");
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("can be read once"));
}

}  // namespace
}  // namespace schedq
