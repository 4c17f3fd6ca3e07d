// Goal: `schedq run --jobs N` plays workloads side by side, and nothing but the time that it takes
// depends on N: results, tables, what fails and what an interrupt leaves.
// Method: runs the built program with one job and with several, and compares all that it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
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

using testing::HasSubstr;

const std::string kNodes = "  - {opcode: createNodes, count: 5}\n";

std::string Pods(int count) {
  return "  - {opcode: createPods, count: " + std::to_string(count) + ", collectMetrics: true}\n";
}
std::string Case(const std::string& name, const std::string& ops) {
  return "- name: " + name + "\n  workloadTemplate:\n" + ops + "  workloads:\n  - name: W\n";
}
const std::string kEndless =
    kNodes +
    "  - {opcode: createPods, count: 10, steadyState: true, duration: 8000h, "
    "collectMetrics: true}\n";

class JobsTest : public ProgramTest {
 protected:
  static Result<RunDocument> Read(const std::string& folder) {
    return ReadDocument<RunDocument>(folder + "/results.json");
  }
  static std::vector<WorkloadOutcome> Outcomes(const RunDocument& document) {
    std::vector<WorkloadOutcome> outcomes;
    for (const WorkloadResult& result : document.workloads) outcomes.push_back(result.outcome);
    return outcomes;
  }
  // Every file below the folder; of results.json what is outside `environment`.
  static std::map<std::string, std::string> FilesOf(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
      if (!file.is_regular_file()) continue;
      std::string text = *ReadWholeFile(file.path().string());
      if (file.path().filename() == "results.json") {
        Result<RunDocument> document = Read(file.path().parent_path().string());
        EXPECT_TRUE(document.ok()) << document.error().message();
        document->environment = RunEnvironment();
        text = *DocumentText(*document);
      }
      files[fs::relative(file.path(), folder).string()] = std::move(text);
    }
    return files;
  }
  // Runs with one job and with four, and expects the same of both.
  void ExpectTheSame(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "run");
    std::vector<ChildProcess::Ended> ended;
    std::vector<std::map<std::string, std::string>> files;
    for (const char* jobs : {"1", "4"}) {
      const std::string out = Path(std::string("out") + jobs);
      std::vector<std::string> all = arguments;
      all.insert(all.end(), {"--jobs", jobs, "--out", out});
      ended.push_back(Schedq(all));
      files.push_back(FilesOf(out));
    }
    EXPECT_EQ(ended[0].exit_code, ended[1].exit_code);
    EXPECT_EQ(ended[0].out, ended[1].out);
    EXPECT_EQ(ended[0].err, ended[1].err);
    EXPECT_GE(files[0].size(), 4u);
    EXPECT_TRUE(files[0] == files[1]) << "the folders " << Path("out1") << " and out4 differ";
  }
};

TEST_F(JobsTest, TheBuiltinSuiteIsTheSameToTheByteOnBothEngines) {
  ExpectTheSame({"--engine", "both"});
}

TEST_F(JobsTest, RepetitionsSideBySideStandInTheirOrder) {
  ExpectTheSame({"--labels", "short", "--repeat", "3"});
  const Result<RunDocument> document = Read(Path("out4"));
  ASSERT_TRUE(document.ok()) << document.error().message();
  for (const WorkloadResult& result : document->workloads) {
    ASSERT_EQ(result.repetitions.size(), 3u);
    for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(result.repetitions[i].seed, i + 1);
  }
}

TEST_F(JobsTest, ExperimentsAndScenariosAreTheSame) {
  ExpectTheSame({"--suite", "kep", "--labels", "short"});
}

// Only a run shows that there is no such namespace. A skipped one stands among those that run.
TEST_F(JobsTest, WhatFailsOrIsSkippedEndsOnlyItself) {
  Write("gadget.yaml", "apiVersion: example.org/v1\nkind: Gadget\nmetadata: {name: g}\n");
  const std::string file = Write(
      "w.yaml",
      Case("First", kNodes + Pods(20)) +
          Case("Bad", kNodes + Pods(100) + "  - {opcode: barrier, namespaces: [no]}\n") +
          Case("Skipped", "  - {opcode: createAny, namespace: a, templatePath: gadget.yaml}\n" +
                              kNodes + Pods(1)) +
          Case("Last", kNodes + Pods(20)));
  ExpectTheSame({file, "--repeat", "2"});
  const Result<RunDocument> document = Read(Path("out4"));
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(Outcomes(*document),
            (std::vector{WorkloadOutcome::kMeasured, WorkloadOutcome::kFailed,
                         WorkloadOutcome::kSkipped, WorkloadOutcome::kMeasured}));
}

TEST_F(JobsTest, AnInterruptKeepsWhatHasEndedInTheOrderOfTheFile) {
  const std::string file =
      Write("w.yaml", Case("EndlessA", kEndless) + Case("Good", kNodes + Pods(20)) +
                          Case("EndlessB", kEndless) + Case("Better", kNodes + Pods(10)));
  ChildProcess child({SCHEDQ_PROGRAM, "run", file, "--jobs", "3", "--out", Path("out")});
  // The endless ones say nothing before their end, which is hours away.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  child.Signal(SIGINT);
  const ChildProcess::Ended ended = child.Wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.out, HasSubstr("2 measured, 0 skipped, 2 interrupted"));
  const Result<RunDocument> document = Read(Path("out"));
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(Outcomes(*document),
            (std::vector{WorkloadOutcome::kInterrupted, WorkloadOutcome::kMeasured,
                         WorkloadOutcome::kInterrupted, WorkloadOutcome::kMeasured}));
}

// Work that does not poll: the reports are put together by another thread.
TEST_F(JobsTest, AnInterruptAmidLongStepsShowsWhatHasEnded) {
  const std::string file =
      Write("w.yaml", Case("LongA", kNodes + Pods(900'000)) + Case("Good", kNodes + Pods(20)) +
                          Case("LongB", kNodes + Pods(900'000)));
  ChildProcess child({SCHEDQ_PROGRAM, "run", file, "--jobs", "3", "--out", Path("out")});
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  child.Signal(SIGTERM);
  const ChildProcess::Ended ended = child.Wait();
  EXPECT_EQ(ended.exit_code, 143);
  EXPECT_THAT(ended.out, HasSubstr("1 measured, 0 skipped, 2 interrupted"));
}

TEST_F(JobsTest, AStdoutWithoutAReaderHidesNoFile) {
  const std::string file =
      Write("w.yaml", Case("A", kNodes + Pods(100)) + Case("B", kNodes + Pods(100)));
  const std::string command = std::string(SCHEDQ_PROGRAM) + " run --jobs 2 " + file + " --out ";
  const ChildProcess::Ended gone = Shell(command + Path("gone") + " | true; echo ${PIPESTATUS[0]}");
  EXPECT_THAT(gone.out, HasSubstr("141"));
  EXPECT_EQ(Read(Path("gone"))->workloads.size(), 2u);
  const ChildProcess::Ended closed = Shell(command + Path("closed") + " >&-");
  EXPECT_EQ(closed.exit_code, 2);
  ExpectOneLine(closed.err);
  EXPECT_EQ(Read(Path("closed"))->workloads.size(), 2u);
}

// Each of them fits; two at once do not, so that one gives way and is played again.
TEST_F(JobsTest, AWorkloadThatFitsAloneDoesNotFailBesideOthers) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer's memory is beyond the limit";
  std::string text;
  const std::string nodes = "  - {opcode: createNodes, count: 1000}\n";
  for (const char* name : {"A", "B", "C", "D"}) text += Case(name, nodes + Pods(30'000));
  const std::string file = Write("w.yaml", text);
  const ChildProcess::Ended alone = Schedq({"run", file, "--jobs", "1", "--memory", "100M"});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  const ChildProcess::Ended together =
      Schedq({"run", file, "--jobs", "4", "--memory", "100M", "--out", Path("out")});
  EXPECT_EQ(together.exit_code, 0) << together.err;
  EXPECT_EQ(together.out, alone.out);
}

TEST_F(JobsTest, AWorkloadThatNeverFitsFailsAndTheOthersDoNot) {
  if (kUnderAddressSanitizer) GTEST_SKIP() << "a sanitizer's memory is beyond the limit";
  const std::string file =
      Write("w.yaml", Case("Growing", kNodes + Pods(900'000)) + Case("Small", kNodes + Pods(20)) +
                          Case("Little", kNodes + Pods(30)));
  const ChildProcess::Ended ended =
      Schedq({"run", file, "--jobs", "3", "--memory", "150M", "--out", Path("out")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("failed: Growing/W: memory: "));
  const Result<RunDocument> document = Read(Path("out"));
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(Outcomes(*document), (std::vector{WorkloadOutcome::kFailed, WorkloadOutcome::kMeasured,
                                              WorkloadOutcome::kMeasured}));
}

TEST_F(JobsTest, WhatCannotRunSideBySideIsRefused) {
  ExpectRefused({"run", "--jobs", "0"}, "--jobs");
  ExpectRefused({"run", "--jobs", "257"}, "--jobs");
  ExpectRefused({"run", "--jobs", "2", "--clock", "real", "--name", "^Basic/10"},
                "--jobs 2: on the real clock workloads would share time, expected 1");
  ExpectRefused({"run", "--jobs", "2", "--plugin", Path("any.so")},
                "--jobs 2: workloads would share what a plugin library keeps, expected 1");
}

}  // namespace
}  // namespace schedq
