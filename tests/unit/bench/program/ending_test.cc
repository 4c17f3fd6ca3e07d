// Goal: each command ends within two seconds of a signal, at any moment, with what it has measured
// and the signal's exit code; a stdout that is closed, full or without a reader loses no file.
// Method: runs the built program at work that would take minutes, signals it, and looks at its
// streams, its files and what it leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/sanitizers.h"
#include "perf/documents/document.h"
#include "perf/documents/profile_document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EndingTest : public ProgramTest {
 protected:
  void SetUp() override {
    fs::create_directory(Path("tmp"));
    setenv("TMPDIR", Path("tmp").c_str(), 1);
  }
  void TearDown() override { unsetenv("TMPDIR"); }

  // Signals the program after `delay`, and expects its end within two seconds.
  ChildProcess::Ended Interrupt(const std::vector<std::string>& arguments, int signal,
                                std::chrono::milliseconds delay) const {
    std::vector<std::string> all = {SCHEDQ_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    ChildProcess child(all);
    std::this_thread::sleep_for(delay);
    const auto start = std::chrono::steady_clock::now();
    child.Signal(signal);
    ChildProcess::Ended ended = child.Wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 2.0) << testing::PrintToString(arguments);
    EXPECT_EQ(ended.exit_code, 128 + signal) << ended.err;
    return ended;
  }
  // What is left in the folder for temporary files, the test's own files aside.
  size_t Leftovers() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(Path("tmp"))) {
      if (entry.path().filename().string().rfind("schedq-test-", 0) != 0) ++count;
    }
    return count;
  }
};

constexpr std::chrono::milliseconds kWorking{700};

TEST_F(EndingTest, ARunThatWaitsForOneLongStepShowsWhatHasEnded) {
  // A million pods are freed when the run ends, which no poll shortens.
  const std::string file =
      Write("w.yaml",
            "- name: Case\n  workloadTemplate:\n  - {opcode: createNodes, count: 5}\n"
            "  - {opcode: createPods, countParam: $pods, collectMetrics: true}\n"
            "  workloads:\n  - {name: Good, params: {pods: 20}}\n"
            "  - {name: Long, params: {pods: 900000}}\n");
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = Path("out" + std::to_string(signal));
    const ChildProcess::Ended ended =
        Interrupt({"run", file, "--out", out}, signal, std::chrono::milliseconds(2500));
    EXPECT_THAT(ended.out, HasSubstr("1 measured, 0 skipped, 1 interrupted"));
    const Result<RunDocument> document = ReadDocument<RunDocument>(out + "/results.json");
    ASSERT_TRUE(document.ok()) << document.error().message();
    ASSERT_EQ(document->workloads.size(), 2u);
    EXPECT_EQ(document->workloads[0].outcome, WorkloadOutcome::kMeasured);
    EXPECT_EQ(document->workloads[1].outcome, WorkloadOutcome::kInterrupted);
  }
}

TEST_F(EndingTest, AProfileOfALargeSizeShowsTheSmallOnes) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string path = Path("profile" + std::to_string(signal) + ".json");
    const ChildProcess::Ended ended =
        Interrupt({"profile", "requeue", "--only", "lockfree/narrowed", "--sizes", "100,10000000",
                   "--limit", "1e9", "--json", path},
                  signal, std::chrono::milliseconds(1500));
    EXPECT_THAT(ended.out, HasSubstr("lockfree/narrowed"));
    const Result<ProfileDocument> document = ReadDocument<ProfileDocument>(path);
    ASSERT_TRUE(document.ok()) << document.error().message();
    ASSERT_EQ(document->series.size(), 1u);
    EXPECT_EQ(document->series[0].points.size(), 1u);
  }
}

TEST_F(EndingTest, MeasuringCommandsEnd) {
  Interrupt({"floor"}, SIGTERM, kWorking);
  EXPECT_THAT(Interrupt({"bench", "engine"}, SIGINT, kWorking).out, HasSubstr("measured"));
  EXPECT_THAT(Interrupt({"bench", "--bars"}, SIGTERM, kWorking).out, HasSubstr("bars"));
  Interrupt({"run", "--suite", "kep"}, SIGTERM, kWorking);
  Interrupt({"profile", "dispatch"}, SIGINT, kWorking);
}

TEST_F(EndingTest, AnInputThatNeverComesIsNoExcuse) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const std::string pipe = Path("pipe");
  for (const int signal : {SIGINT, SIGTERM}) {
    ChildProcess child({SCHEDQ_PROGRAM, "compare", pipe, pipe});
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto start = std::chrono::steady_clock::now();
    child.Signal(signal);
    const int code = child.Wait().exit_code;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 2.0);
    // A reader may refuse a pipe at once, which is as good.
    EXPECT_TRUE(code == 128 + signal || code == 2) << code;
  }
}

TEST_F(EndingTest, AGateEndsWithTheChildThatIgnoresSignals) {
  const std::string deaf = Script(
      "deaf", "trap '' INT TERM HUP; echo $$ > " + Path("pid") + "; while :; do sleep 0.1; done");
  for (const int signal : {SIGINT, SIGTERM}) {
    Interrupt({"gate", "--base", deaf}, signal, kWorking);
    EXPECT_EQ(Leftovers(), 0u);
    std::string pid = *ReadWholeFile(Path("pid"));
    pid.pop_back();
    const Result<std::string> stat = ReadWholeFile("/proc/" + pid + "/stat");
    EXPECT_TRUE(!stat.ok() || stat->find(") Z ") != std::string::npos) << *stat;
  }
}

TEST_F(EndingTest, AGateKillsTheChildThatPrintsWithoutEnd) {
  const std::string loud = Script("loud", "exec yes");
  const ChildProcess::Ended ended = RunProgram({SCHEDQ_PROGRAM, "gate", "--base", loud});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("printed more than 64 MiB, and was killed"));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_EQ(Leftovers(), 0u);
}

TEST_F(EndingTest, ASecondSignalEndsAtOnceAndLeavesNothing) {
  const std::string deaf = Script("deaf", "trap '' INT TERM HUP; while :; do sleep 0.1; done");
  ChildProcess child({SCHEDQ_PROGRAM, "gate", "--base", deaf});
  std::this_thread::sleep_for(kWorking);
  child.Signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = std::chrono::steady_clock::now();
  child.Signal(SIGINT);
  EXPECT_EQ(child.Wait().exit_code, 130);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 0.5);
  EXPECT_EQ(Leftovers(), 0u);
}

TEST_F(EndingTest, ACrashOrALimitLeavesNothingBehind) {
  const std::string slow = Script("slow", "exec sleep 100");
#ifdef SCHEDQ_ADDRESS_SANITIZER
  const std::vector<int> signals = {SIGXCPU};  // The sanitizer has its own answer to a crash.
#else
  const std::vector<int> signals = {SIGXCPU, SIGBUS, SIGSEGV};
#endif
  for (const int signal : signals) {
    ChildProcess child({SCHEDQ_PROGRAM, "gate", "--base", slow});
    std::this_thread::sleep_for(kWorking);
    EXPECT_EQ(Leftovers(), 1u) << "a folder for results";
    child.Signal(signal);
    EXPECT_EQ(child.Wait().exit_code, 128 + signal);
    EXPECT_EQ(Leftovers(), 0u);
  }
}

TEST_F(EndingTest, AClosedOrFullStdoutIsOneLineAndFilesAreWritten) {
  const std::string run = std::string(SCHEDQ_PROGRAM) + " run --name Basic/10 --out ";
  for (const char* redirection : {">/dev/full", ">&-", ">/dev/full 2>&1", ">&- 2>&-"}) {
    SCOPED_TRACE(redirection);
    const std::string out = Path("out") + std::to_string(redirection[2]) +
                            std::to_string(std::string(redirection).size());
    const ChildProcess::Ended ended = Shell(run + out + " " + redirection);
    EXPECT_EQ(ended.exit_code, 2);
    const std::string text = ended.err;
    if (std::string(redirection).find("2>") == std::string::npos) {
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
      EXPECT_THAT(text, HasSubstr("cannot be written to stdout"));
    }
    EXPECT_TRUE(ReadDocument<RunDocument>(out + "/results.json").ok());
    EXPECT_TRUE(fs::exists(out + "/metrics/Basic_10Nodes_50Pods.prom"));
  }
}

TEST_F(EndingTest, EachCommandSaysThatStdoutIsFull) {
  for (const char* command :
       {"--help", "--version", "version", "help run", "list", "list --format json", "man",
        "completion bash", "bench --list", "run --name Basic/10 --format json",
        "run --name Basic/10 --format benchstat", "profile backoff --quick",
        "bench --bars --quick pod_life"}) {
    const ChildProcess::Ended ended =
        Shell(std::string(SCHEDQ_PROGRAM) + " " + command + " >/dev/full");
    EXPECT_EQ(ended.exit_code, 2) << command;
    EXPECT_THAT(ended.err, HasSubstr("cannot be written to stdout: No space left on device\n"))
        << command;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << command << ended.err;
  }
}

TEST_F(EndingTest, AReaderThatGoesEndsTheProgramQuietly) {
  const ChildProcess::Ended ended =
      Shell(std::string(SCHEDQ_PROGRAM) + " run --name Basic/10 --out " + Path("out") +
            " | true; echo ${PIPESTATUS[0]}");
  EXPECT_EQ(ended.out, "141\n");
  EXPECT_THAT(ended.err, IsEmpty());
  EXPECT_TRUE(ReadDocument<RunDocument>(Path("out/results.json")).ok());
  const auto start = std::chrono::steady_clock::now();
  const ChildProcess::Ended bench =
      Shell(std::string(SCHEDQ_PROGRAM) + " bench | head -1; echo ${PIPESTATUS[0]}");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_THAT(bench.out, HasSubstr("\n141\n"));
  EXPECT_THAT(bench.err, IsEmpty());
  EXPECT_LT(took.count(), 60) << "it ends when its reader has gone, not after all groups";
}

// What a shell or a terminal shares may be set so; the rest was given up when the pipe was full.
TEST_F(EndingTest, AStdoutThatDoesNotWaitGetsAllOfTheOutput) {
  const std::string program(SCHEDQ_PROGRAM);
  const std::string expected = Shell(program + " list --format json").out;
  const ChildProcess::Ended ended = Shell(
      "{ python3 -c 'import fcntl, os\n"
      "fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096)\n"
      "fcntl.fcntl(1, fcntl.F_SETFL, os.O_WRONLY | os.O_NONBLOCK)'; " +
      program + " list --format json; echo code $? >&2; } | { sleep 0.5; cat; }");
  EXPECT_GT(expected.size(), 4096u) << "the pipe is never full";
  EXPECT_EQ(ended.out, expected);
  EXPECT_EQ(ended.err, "code 0\n");
}

// A pipe without a reader was taken for stdout's: exit code 141, and the run broke off.
TEST_F(EndingTest, AStderrThatNobodyReadsChangesNothing) {
  const std::string bad =
      Write("bad.yaml",
            "- name: Case\n  workloadTemplate:\n  - {opcode: createNodes, count: 5}\n"
            "  - {opcode: createPods, count: 20, collectMetrics: true}\n"
            "  - {opcode: barrier, namespaces: [no]}\n  workloads:\n  - {name: W}\n");
  const std::string program(SCHEDQ_PROGRAM);
  const std::vector<std::pair<std::string, std::string>> commands = {
      {program + " run --name '^Basic/10' --out " + Path("out"), "0"},
      {program + " run " + bad, "2"},
      {program + " run --name no-such-workload", "2"},
      {program + " nonsense", "2"},
      {program + " gate --base " + program + " --name '^Basic/10' --engine lockfree", "0"}};
  for (const auto& [command, code] : commands) {
    for (const char* redirection : {"2>&-", "2>/dev/full", "2> >(exec true)", "2> >(sleep 0.2)"}) {
      const ChildProcess::Ended ended =
          Shell("trap '' TERM; " + command + " " + redirection + "; echo code $?");
      EXPECT_THAT(ended.out, HasSubstr("code " + code + "\n")) << command << " " << redirection;
    }
  }
  EXPECT_TRUE(ReadDocument<RunDocument>(Path("out/results.json")).ok());
  // The reader has gone before the first line, which is not the last thing that the command does.
  Write("volume.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
        "  containers: [{name: c, image: i}]\n"
        "  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {}}}]\n");
  const std::string skipped = Write(
      "skipped.yaml",
      "- name: Case\n  workloadTemplate:\n"
      "  - {opcode: createPods, count: 2, podTemplatePath: volume.yaml, collectMetrics: true}\n"
      "  workloads:\n  - {name: W}\n");
  const ChildProcess::Ended ended =
      Shell("mkfifo " + Path("p") + "; (exec 3<" + Path("p") + ") & exec 4>" + Path("p") +
            "; wait; " + program + " run " + skipped + " 2>&4; echo code $?");
  EXPECT_THAT(ended.out, HasSubstr("code 1\n"));
}

TEST_F(EndingTest, ASignalThatIsIgnoredStaysIgnored) {
  for (const char* name : {"INT", "TERM", "HUP"}) {
    const ChildProcess::Ended ended =
        Shell("trap '' " + std::string(name) + "; " SCHEDQ_PROGRAM " floor --quick --json " +
              Path(name) + " & sleep 0.3; kill -" + name + " $!; wait $!");
    EXPECT_EQ(ended.exit_code, 0) << name << ended.err;
    EXPECT_TRUE(fs::exists(Path(name))) << "it ended with its results";
  }
}

TEST_F(EndingTest, AnInterruptBeforeAnythingIsMeasuredWritesNothing) {
  const std::string path = Path("profile.json");
  const ChildProcess::Ended ended =
      Interrupt({"profile", "requeue", "--only", "lockfree/narrowed", "--sizes", "10000000",
                 "--limit", "1e9", "--json", path},
                SIGINT, kWorking);
  EXPECT_EQ(ended.err,
            "schedq: nothing was measured before the end; " + path + " is not written\n");
  EXPECT_FALSE(fs::exists(path)) << ended.out;
}

TEST_F(EndingTest, AHangUpIsAnInterruptUnlessItIsIgnored) {
  Interrupt({"bench", "engine"}, SIGHUP, kWorking);
  ChildProcess child({"/usr/bin/nohup", SCHEDQ_PROGRAM, "floor", "--quick"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  child.Signal(SIGHUP);
  EXPECT_EQ(child.Wait().exit_code, 0);
}

}  // namespace
}  // namespace schedq
