// Goal: what was measured is shown and written whatever one workload or one file does, and a
// complete result is never replaced by a partial one.
// Method: runs the built program with one fault at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/sanitizers.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kNodes = "  - {opcode: createNodes, count: 5}\n";
const std::string kPods = "  - {opcode: createPods, count: 20, collectMetrics: true}\n";

std::string Case(const std::string& name, const std::string& ops) {
  return "- name: " + name + "\n  workloadTemplate:\n" + ops + "  workloads:\n  - name: W\n";
}
// Only a run shows that there is no such namespace.
const std::string kBad = Case("Bad", kNodes + kPods + "  - {opcode: barrier, namespaces: [no]}\n");
const std::string kGood = Case("Good", kNodes + kPods);
const std::string kEndless =
    Case("Endless", kNodes +
                        "  - {opcode: createPods, count: 10, steadyState: true, "
                        "duration: 8000h, collectMetrics: true}\n");
const std::string kGrowing =
    Case("Growing", kNodes + "  - {opcode: createPods, count: 900000, collectMetrics: true}\n");

class OutputTest : public ProgramTest {
 protected:
  static Result<RunDocument> Read(const std::string& folder) {
    return ReadDocument<RunDocument>(folder + "/results.json");
  }
  size_t Hidden(const std::string& folder) const {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().filename().string()[0] == '.') ++count;
    }
    return count;
  }
};

TEST_F(OutputTest, OneBadWorkloadEndsOnlyItself) {
  const std::string file = Write("w.yaml", kBad + kGood);
  const ChildProcess::Ended ended = Schedq({"run", file, "--out", Path("out"), "--engine", "both"});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneLine(ended.err);
  EXPECT_THAT(ended.err, HasSubstr("unknown namespace no"));
  EXPECT_THAT(ended.out, HasSubstr("1 measured, 0 skipped, 1 failed"));
  EXPECT_THAT(ended.out, HasSubstr("failed: Bad/W: "));
  for (const char* engine : {"lockfree", "classic"}) {
    const Result<RunDocument> document = Read(Path("out/") + engine);
    ASSERT_TRUE(document.ok()) << document.error().message();
    ASSERT_EQ(document->workloads.size(), 2u);
    EXPECT_EQ(document->workloads[0].outcome, WorkloadOutcome::kFailed);
    EXPECT_THAT(document->workloads[0].reason, HasSubstr("unknown namespace no"));
    EXPECT_EQ(document->workloads[1].outcome, WorkloadOutcome::kMeasured);
  }
  const ChildProcess::Ended alone = Schedq({"run", file, "--name", "Bad"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.out, IsEmpty());
}

TEST_F(OutputTest, OneBadTraceEndsOnlyItself) {
  const std::string good = Path("good.jsonl");
  ASSERT_EQ(Schedq({"run", "--name", "^Basic/10", "--record", good}).exit_code, 0);
  const std::string bad = Write("bad.jsonl", "no trace\n");
  const ChildProcess::Ended ended = Schedq({"replay", bad, good});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneLine(ended.err);
  EXPECT_THAT(ended.err, HasSubstr("bad.jsonl:1"));
  EXPECT_THAT(ended.out, HasSubstr("1 traces, "));
  const ChildProcess::Ended two = Schedq({"replay", bad, Path("absent.jsonl")});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.out, IsEmpty());
  EXPECT_THAT(two.err, HasSubstr("absent.jsonl"));
}

TEST_F(OutputTest, AWorkloadThatTakesTooMuchMemoryEndsOnlyItself) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer's memory is beyond the limit";
  const std::string file = Write("w.yaml", kGrowing + kGood);
  const ChildProcess::Ended ended = Schedq({"run", file, "--memory", "150M", "--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 1);
  ExpectOneLine(ended.err);
  EXPECT_THAT(ended.err, HasSubstr("failed: Growing/W: memory: "));
  EXPECT_THAT(ended.err, HasSubstr("beyond the limit of 150 MiB (--memory)"));
  EXPECT_THAT(ended.out, HasSubstr("1 measured, 0 skipped, 1 failed"));
  EXPECT_EQ(Read(Path("out"))->workloads[1].outcome, WorkloadOutcome::kMeasured);
  const ChildProcess::Ended wrong = Schedq({"run", "--memory", "much"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--memory 'much': expected a size above 0, such as 512M"));
}

// The run polls its memory while threads of its own take it.
TEST_F(OutputTest, OnTheRealClockAWorkloadBeyondTheLimitOfMemoryFailsToo) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer's memory is beyond the limit";
  const std::string file = Write("w.yaml", kGrowing + kGood);
  const ChildProcess::Ended ended =
      Schedq({"run", file, "--clock", "real", "--engine", "lockfree", "--repeat", "1", "--memory",
              "150M", "--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 1);
  ExpectOneLine(ended.err);
  EXPECT_THAT(ended.err, HasSubstr("failed: Growing/W: memory: "));
  EXPECT_THAT(ended.err, HasSubstr("beyond the limit of 150 MiB (--memory)"));
  const Result<RunDocument> document = Read(Path("out"));
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->workloads[0].outcome, WorkloadOutcome::kFailed);
  EXPECT_THAT(document->workloads[0].reason, HasSubstr("memory: "));
  EXPECT_EQ(document->workloads[1].outcome, WorkloadOutcome::kMeasured);
}

// It ended before its memory was looked at for the first time.
TEST_F(OutputTest, AShortWorkloadBeyondTheLimitOfMemoryFailsToo) {
  for (const char* clock : {"virtual", "real"}) {
    const ChildProcess::Ended ended =
        Schedq({"run", "--clock", clock, "--engine", "lockfree", "--repeat", "1", "--name",
                "^Basic/10Nodes", "--memory", "1M"});
    EXPECT_EQ(ended.exit_code, 1) << clock;
    EXPECT_THAT(ended.err, HasSubstr("failed: Basic/10Nodes_50Pods: memory: ")) << clock;
    EXPECT_THAT(ended.err, HasSubstr("beyond the limit of 1.00 MiB (--memory)")) << clock;
  }
}

// Threads that had started waited for ever for those that had not. Each start that may fail is in
// tests/faults.
TEST_F(OutputTest, ThreadsThatCannotBeStartedAreOneLine) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer needs more address space";
  for (const int mebibytes : {250, 300, 400, 500}) {
    const ChildProcess::Ended ended =
        RunProgram({"/bin/bash", "-c",
                    "ulimit -v " + std::to_string(mebibytes << 10) +
                        "; exec timeout -s KILL 60 " SCHEDQ_PROGRAM
                        " run --clock real --schedulers 64 --name ^Basic/10N --repeat 1"});
    EXPECT_EQ(ended.exit_code, 2) << mebibytes;
    ExpectOneLine(ended.err);
    EXPECT_THAT(ended.err, AnyOf(HasSubstr("gives no further thread; expected more, or less work"),
                                 HasSubstr("memory ran out; expected more of it")));
  }
}

TEST_F(OutputTest, AProfileStopsBeforeASizeThatTakesTooMuchMemory) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer's memory is beyond the limit";
  const ChildProcess::Ended ended =
      Schedq({"profile", "requeue", "--only", "lockfree/narrowed", "--sizes",
              "10000,20000,10000000", "--limit", "1e9", "--rounds", "1", "--memory", "300M"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("10,000,000 would take about"));
  EXPECT_THAT(ended.out, HasSubstr("of memory"));
}

TEST_F(OutputTest, WithoutMemoryARunIsOneLineAndNoCrash) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer needs more address space";
  // Too little for the program's own start leaves no line to expect.
  for (const int mebibytes : {200, 400}) {
    const ChildProcess::Ended ended = RunProgram(
        {"/bin/bash", "-c",
         "ulimit -v " + std::to_string(mebibytes << 10) + "; exec " SCHEDQ_PROGRAM " run " +
             Write("w.yaml", kGrowing) + " --memory 100G"});
    EXPECT_TRUE(ended.exit_code == 1 || ended.exit_code == 2) << ended.exit_code;
    EXPECT_THAT(ended.err, HasSubstr("memory ran out"));
    EXPECT_THAT(ended.err, Not(HasSubstr("bug")));
  }
}

// Where no exception can go on, the program ended with one line and nothing else.
TEST_F(OutputTest, WhatWasMeasuredBeforeMemoryRanOutIsShown) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer needs more address space";
  const std::string file = Write("w.yaml", kGood + kGrowing);
  // A thread of the run ends it on the real clock, and one that allocates in a destructor on both.
  for (const char* clock : {"virtual", "real"}) {
    SCOPED_TRACE(clock);
    const std::string out = Path(clock);
    const ChildProcess::Ended ended = RunProgram(
        {"/bin/bash", "-c",
         "ulimit -v 600000; exec " SCHEDQ_PROGRAM " run " + file +
             " --memory 100G --repeat 1 --engine lockfree --out " + out + " --clock " + clock});
    EXPECT_TRUE(ended.exit_code == 1 || ended.exit_code == 2) << ended.exit_code;
    ExpectOneLine(ended.err);
    EXPECT_THAT(ended.err, AnyOf(HasSubstr("memory ran out"), HasSubstr("no further thread")));
    EXPECT_THAT(ended.out, HasSubstr("1 measured, 0 skipped, 1 failed"));
    const Result<RunDocument> document = Read(out);
    ASSERT_TRUE(document.ok()) << document.error().message();
    ASSERT_EQ(document->workloads.size(), 2u);
    EXPECT_EQ(document->workloads[0].outcome, WorkloadOutcome::kMeasured);
    EXPECT_EQ(document->workloads[1].outcome, WorkloadOutcome::kFailed);
  }
}

TEST_F(OutputTest, APartialResultGoesBesideACompleteOne) {
  const std::string file = Write("w.yaml", kGood + kEndless);
  ASSERT_EQ(
      Schedq({"run", file, "--name", "Good", "--out", Path("out"), "--record", Path("run.jsonl")})
          .exit_code,
      0);
  const std::string whole = *ReadWholeFile(Path("out/results.json"));
  const std::string trace = *ReadWholeFile(Path("run.jsonl"));
  const auto interrupt = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {SCHEDQ_PROGRAM, "run", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ChildProcess child(arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    child.Signal(SIGINT);
    return child.Wait();
  };
  const ChildProcess::Ended ended = interrupt({"--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.err, HasSubstr(Path("out/partial")));
  EXPECT_EQ(*ReadWholeFile(Path("out/results.json")), whole);
  EXPECT_EQ(Read(Path("out/partial"))->workloads.size(), 2u);
  EXPECT_EQ(interrupt({"--name", "Endless", "--record", Path("run.jsonl")}).exit_code, 130);
  EXPECT_EQ(*ReadWholeFile(Path("run.jsonl")), trace);
  EXPECT_TRUE(fs::exists(Path("run.partial.jsonl")));
}

TEST_F(OutputTest, NothingMeasuredIsSaidOnce) {
  const std::string file = Write(
      "w.yaml", Case("Needs", kNodes + "  - {opcode: createPods, count: 1, collectMetrics: true, "
                                       "podTemplatePath: pod.yaml}\n"));
  Write("pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
        "  containers: [{name: c, image: i}]\n"
        "  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {}}}]\n");
  for (const char* clock : {"virtual", "real"}) {
    const ChildProcess::Ended ended = Schedq({"run", file, "--engine", "both", "--clock", clock});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_EQ(ended.err, "schedq run: nothing was measured: 1 skipped, 0 failed\n");
  }
}

TEST_F(OutputTest, AFileThatCannotBeWrittenHidesNoTable) {
  const std::string deep(200, 'n');
  const std::string file = Write("w.yaml", Case(deep + deep, kNodes + kPods));
  const ChildProcess::Ended ended = Schedq({"run", file, "--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneLine(ended.err);
  EXPECT_THAT(ended.err, HasSubstr("File name too long"));
  EXPECT_THAT(ended.out, HasSubstr("1 measured"));
  EXPECT_TRUE(Read(Path("out")).ok()) << "the other files are written";
  EXPECT_EQ(Hidden(Path("out")), 0u);
}

TEST_F(OutputTest, AFullDiskHidesNoTableAndLeavesNothingHalfWritten) {
  ASSERT_EQ(Schedq({"run", "--name", "Basic/10", "--out", Path("out")}).exit_code, 0);
  const std::string before = *ReadWholeFile(Path("out/results.json"));
  const std::string limited = "ulimit -f 4; exec " SCHEDQ_PROGRAM " ";
  const ChildProcess::Ended ended = RunProgram(
      {"/bin/bash", "-c",
       limited + "run --name Basic/ --engine lockfree --labels short --out " + Path("out")});
  EXPECT_EQ(ended.exit_code, 2);
  ExpectOneLine(ended.err);
  EXPECT_THAT(ended.err, HasSubstr("results.json: cannot be written: File too large"));
  EXPECT_THAT(ended.out, HasSubstr("Basic/10Nodes_50Pods"));
  EXPECT_EQ(*ReadWholeFile(Path("out/results.json")), before);
  EXPECT_EQ(Hidden(Path("out")), 0u);
  for (const std::string command :
       {"profile backoff --quick --json ", "bench --bars --quick pod_life --json "}) {
    const ChildProcess::Ended one =
        RunProgram({"/bin/bash", "-c",
                    "ulimit -f 1; exec " SCHEDQ_PROGRAM " " + command + Path("new/file.json")});
    EXPECT_EQ(one.exit_code, 2) << command;
    ExpectOneLine(one.err);
    EXPECT_THAT(one.out, Not(IsEmpty())) << command;
    EXPECT_FALSE(fs::exists(Path("new"))) << command;
  }
}

TEST_F(OutputTest, DocumentsGoToDevicesPipesAndLinks) {
  fs::create_symlink("real.json", Path("link.json"));
  EXPECT_EQ(Schedq({"profile", "backoff", "--quick", "--json", Path("link.json")}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(Path("link.json")));
  EXPECT_THAT(*ReadWholeFile(Path("real.json")), HasSubstr("schedq_profile"));
  EXPECT_EQ(Schedq({"profile", "backoff", "--quick", "--json", "/dev/null"}).exit_code, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const ChildProcess::Ended both =
      Schedq({"profile", "backoff", "--quick", "--json", "/dev/stdout"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_LT(both.out.find("lockfree"), both.out.find("\"schedq_profile\""));
  const ChildProcess::Ended piped =
      RunProgram({"/bin/bash", "-c",
                  "mkfifo " + Path("pipe") + "; cat " + Path("pipe") +
                      " & " SCHEDQ_PROGRAM " profile backoff --quick --json " + Path("pipe") +
                      " >/dev/null; code=$?; wait; exit $code"});
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("schedq_profile"));
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
}

}  // namespace
}  // namespace schedq
