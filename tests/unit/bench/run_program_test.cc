// Goal: another program ends within its limits, whatever it does, and leaves nothing behind: no
// process, no zombie, no output in memory.
// Method: small shell scripts that misbehave.
#include "bench/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "perf/files/file_io.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::SizeIs;

Result<ProgramEnd> Shell(const std::string& script, const ProgramLimits& limits = {}) {
  return RunProgram({"/bin/sh", "-c", script}, "", limits);
}

// Ended: gone, or a zombie that waits for whoever inherited it.
bool HasEnded(const std::string& process) {
  const Result<std::string> stat = ReadWholeFile("/proc/" + process + "/stat");
  return !stat.ok() || stat->find(") Z ") != std::string::npos;
}

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST(RunProgramTest, KeepsOutputsAndTheExitCode) {
  const Result<ProgramEnd> end = Shell("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->exit_code, 7);
  EXPECT_EQ(end->out, "out\n");
  EXPECT_EQ(end->err, "err\n");
  EXPECT_EQ(end->LastLine(), "err");
  EXPECT_EQ(Shell("kill -9 $$")->exit_code, 137);
}

TEST(RunProgramTest, SaysWhyItCannotStart) {
  const Result<ProgramEnd> absent = RunProgram({"/no/such/program"});
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().message(),
            "/no/such/program: cannot be started: No such file or directory");
  const Result<ProgramEnd> folder = RunProgram({"/bin/true"}, "/no/such/folder");
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message(), HasSubstr("No such file or directory"));
  EXPECT_EQ(Shell("exit 127")->exit_code, 127) << "a program may end with any code";
}

TEST(RunProgramTest, ItsInputIsEmpty) { EXPECT_EQ(Shell("cat; echo end")->out, "end\n"); }

TEST(RunProgramTest, AProgramThatIgnoresSignalsIsKilledAtItsTimeLimit) {
  const Stopwatch watch;
  const Result<ProgramEnd> end =
      Shell("trap '' INT TERM HUP; while :; do sleep 0.1; done", {milliseconds(300)});
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message(), HasSubstr("longer than its limit of 0.3 s"));
  EXPECT_LT(watch.seconds(), 3);
}

TEST(RunProgramTest, AProgramThatPrintsWithoutEndIsKilledAndNotKept) {
  const Stopwatch watch;
  const Result<ProgramEnd> end = Shell("exec yes", {std::chrono::hours(1), uint64_t{1} << 30});
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.error().message(), HasSubstr("printed more than 1024 MiB"));
  EXPECT_LT(watch.seconds(), 20);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  // A sanitizer takes more for itself.
  constexpr long kKibibytesMax = 512 << 10;
  EXPECT_LT(usage.ru_maxrss, kKibibytesMax);
}

TEST(RunProgramTest, TheLastOfALongOutputIsKept) {
  const Result<ProgramEnd> end = Shell("head -c 12000000 /dev/zero; echo; echo last");
  ASSERT_TRUE(end.ok());
  EXPECT_THAT(end->out, SizeIs(kKeptOutputMax));
  EXPECT_EQ(end->LastLine(), "last");
}

TEST(RunProgramTest, WhatTheProgramLeavesBehindEndsWithIt) {
  const Stopwatch watch;
  const Result<ProgramEnd> end = Shell("trap '' HUP; sleep 1000 & echo $!");
  ASSERT_TRUE(end.ok());
  EXPECT_LT(watch.seconds(), 5) << "the process in the background holds the pipe";
  const std::string left = end->LastLine();
  for (int i = 0; i < 100 && !HasEnded(left); ++i) usleep(10'000);
  EXPECT_TRUE(HasEnded(left));
}

TEST(RunProgramTest, NoZombieIsLeft) {
  ASSERT_TRUE(Shell("true").ok());
  ASSERT_FALSE(RunProgram({"/no/such/program"}).ok());
  ASSERT_FALSE(Shell("exec sleep 100", {milliseconds(50)}).ok());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace schedq
