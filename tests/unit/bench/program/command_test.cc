// Goal: `schedq` keeps the promises of the command line: exit codes, one line for wrong usage,
// results on stdout, valid documents, and an interrupt that keeps what was measured.
// Method: runs the built program as a user would and judges what it prints, writes and returns.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/document.h"
#include "perf/documents/floor_document.h"
#include "perf/documents/profile_document.h"
#include "perf/statistics/measurement.h"
#include "perf/statistics/summary.h"
#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kOneGroup = "engine/active_queue/8_priorities/100_entries/1_thread";

ChildProcess::Ended Schedq(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SCHEDQ_PROGRAM);
  return RunProgram(arguments);
}

class CommandTest : public ProgramTest {};

void ExpectUsageError(const std::vector<std::string>& arguments, const std::string& expected) {
  const ChildProcess::Ended ended = Schedq(arguments);
  SCOPED_TRACE(testing::PrintToString(arguments));
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, StartsWith("schedq"));
  EXPECT_THAT(ended.err, HasSubstr(expected));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST_F(CommandTest, WrongUsageIsOneLineAndExitCodeTwo) {
  ExpectUsageError({"nonsense"}, "unknown command 'nonsense'; expected one of: ");
  ExpectUsageError({"nonsense", "--help"}, "unknown command 'nonsense'");
  ExpectUsageError({"flor"}, "did you mean 'floor'?");
  ExpectUsageError({"rn"}, "did you mean 'run'?");
  ExpectUsageError({"help", "flor"}, "schedq help: unknown command 'flor'; did you mean 'floor'?");
  ExpectUsageError({"man", "flor"}, "did you mean 'floor'?");
  ExpectUsageError({"completion"}, "a shell is missing; expected one of: bash, zsh, fish");
  ExpectUsageError({"completion", "zhs"}, "unknown shell 'zhs'");
  ExpectUsageError({"version", "surplus"}, "unexpected argument 'surplus'");
  ExpectUsageError({"--nonsense"}, "unknown flag '--nonsense'");
  ExpectUsageError({"floor", "--jsn", "x"}, "unknown flag '--jsn'; did you mean '--json'?");
  ExpectUsageError({"floor", "--json"}, "--json");
  ExpectUsageError({"floor", "surplus"}, "unexpected argument 'surplus'");
  ExpectUsageError({"floor", "--quick", "--json", "/"}, "--json /: is a folder");
  ExpectUsageError({"bench", "--lst"}, "did you mean '--list'?");
  ExpectUsageError({"bench", "("}, "expected a regular expression (RE2)");
  ExpectUsageError({"bench", "no such case"}, "matches no benchmark");
  ExpectUsageError({"bench", "one", "two"}, "unexpected argument 'two'");
  ExpectUsageError({"bench", "--seed", "x"}, "--seed");
  ExpectUsageError({"bench", "--bars", "no such bar"}, "matches no bar");
  ExpectUsageError({"bench", "--bars", "--list"}, "--bars: expected no --list");
  ExpectUsageError({"profile"}, "a kind is missing; expected one of: requeue, backoff");
  ExpectUsageError({"profile", "requeu"}, "unknown kind 'requeu'; did you mean 'requeue'?");
  ExpectUsageError({"profile", "requeue", "--only", "none"}, "matches no series; there are: ");
  ExpectUsageError({"profile", "requeue", "--only", "("}, "expected a regular expression (RE2)");
  ExpectUsageError({"profile", "requeue", "--sizes", "20,10"}, "expected ascending numbers");
  ExpectUsageError({"profile", "requeue", "--sizes", "ten"}, "--sizes");
  ExpectUsageError({"profile", "requeue", "--limit", "0"}, "--limit: '0' is no number above 0");
  ExpectUsageError({"profile", "requeue", "--run-once"}, "--run-once: expected one series");
  ExpectUsageError({"profile", "requeue", "--json", "/"}, "--json /: is a folder");
}

TEST_F(CommandTest, GoogleBenchmarksFlagsAreJudgedToo) {
  ExpectUsageError({"bench", "--benchmark_mintime=1"}, "did you mean '--benchmark_min_time'?");
  ExpectUsageError({"bench", "--benchmark_min_time=x"}, "expected a number of seconds");
  ExpectUsageError({"bench", "--benchmark_repetitions=0"}, "expected a number of rounds");
  ExpectUsageError({"bench", "--benchmark_out="}, "expected the name of a file");
  ExpectUsageError({"bench", "--benchmark_enable_random_interleaving=false"}, "interleaved");
  ExpectUsageError({"bench", "engine", "--benchmark_filter=engine"}, "not both");
}

TEST_F(CommandTest, VersionNamesBuildAndLibraries) {
  for (const char* way : {"--version", "version"}) {
    const ChildProcess::Ended ended = Schedq({way});
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_THAT(ended.err, IsEmpty());
    for (const char* fact : {"schedq ", "commit: ", "compiler: ", "flags: ", "google-benchmark: ",
                             "oneTBB: ", "CLI11: "}) {
      EXPECT_THAT(ended.out, HasSubstr(fact)) << way;
    }
  }
}

TEST_F(CommandTest, FloorWritesAValidDocument) {
  const std::string path = Path("new folder/floor.json");
  const ChildProcess::Ended ended = Schedq({"floor", "--quick", "--json", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("atomic_add_uncontended"));
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));

  const Result<FloorDocument> document = ReadDocument<FloorDocument>(path);
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->environment.command, "schedq floor --quick --json " + path);
  EXPECT_GE(document->measurements.size(), 8u);
  for (const Measurement& one : document->measurements) {
    EXPECT_EQ(one.repetitions.size(), 5u) << one.name;
    EXPECT_GT(Median(one.repetitions), 0) << one.name;
  }
}

TEST_F(CommandTest, FloorSaysWhatOneCoreCannotMeasure) {
  const ChildProcess::Ended ended =
      RunProgram({"/usr/bin/env", "taskset", "-c", "0", SCHEDQ_PROGRAM, "floor", "--quick"});
  // Where the first core is not ours, taskset fails before the program starts.
  if (ended.err.find("taskset: ") != std::string::npos) GTEST_SKIP() << ended.err;
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, HasSubstr("not measured: line_transfer_one_way (needs two cores"));
  EXPECT_THAT(ended.out, Not(HasSubstr("line_transfer_one_way")));
  EXPECT_THAT(ended.out, HasSubstr("clock_read"));
}

TEST_F(CommandTest, ProfileWritesExponentsOfBothEngines) {
  const std::string path = Path("profile.json");
  const ChildProcess::Ended ended = Schedq({"profile", "requeue", "--quick", "--json", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("lockfree: N events cost N^"));
  EXPECT_THAT(ended.out, HasSubstr("lockfree/narrowed"));
  EXPECT_THAT(ended.out, HasSubstr("ns per event"));

  const Result<ProfileDocument> document = ReadDocument<ProfileDocument>(path);
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->kind, "requeue");
  ASSERT_EQ(document->series.size(), 4u);
  for (const ProfileSeries& series : document->series) {
    EXPECT_EQ(series.points.size(), 3u) << series.name;
    EXPECT_FALSE(series.fits.empty()) << series.name;
  }
}

TEST_F(CommandTest, BarsAreOneTableAndADocument) {
  const std::string path = Path("bars.json");
  const ChildProcess::Ended ended =
      Schedq({"bench", "--bars", "pod_life", "--quick", "--json", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("to upstream"));
  EXPECT_THAT(ended.out, HasSubstr("The floor's arithmetic:"));

  const Result<BarsDocument> document = ReadDocument<BarsDocument>(path);
  ASSERT_TRUE(document.ok()) << document.error().message();
  ASSERT_EQ(document->rows.size(), 3u);
  for (const BarRow& row : document->rows) {
    EXPECT_TRUE(row.measured.has_value()) << row.path;
    EXPECT_TRUE(row.floor.has_value()) << row.path;
    EXPECT_EQ(row.contenders.size(), 2u) << row.path;
  }
}

TEST_F(CommandTest, ProfileRunsOneSeriesOnce) {
  const ChildProcess::Ended ended = Schedq({"profile", "requeue", "--only", "lockfree/narrowed",
                                            "--run-once", "--sizes", "50", "--operations", "20"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "operations: 20\npods judged: 20\nanswer: right\n");
}

TEST_F(CommandTest, BenchListsCasesByRegex) {
  const ChildProcess::Ended all = Schedq({"bench", "--list"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_THAT(all.out, HasSubstr("1000000_entries/8_threads/mutex+std::priority_queue\n"));
  const ChildProcess::Ended some =
      Schedq({"bench", "--benchmark_list_tests", "--benchmark_filter=1_thread/tbb.*queue$"});
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 6) << some.out;
}

TEST_F(CommandTest, BenchRecordsEveryRepetitionOfEveryRival) {
  const std::string path = Path("bench.json");
  const std::string mirror = Path("google.json");
  const ChildProcess::Ended ended =
      Schedq({"bench", kOneGroup, "--quick", "--json", path, "--benchmark_repetitions=4",
              "--benchmark_out=" + mirror});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("to best rival"));
  EXPECT_TRUE(std::filesystem::exists(mirror));

  const Result<BenchDocument> document = ReadDocument<BenchDocument>(path);
  ASSERT_TRUE(document.ok()) << document.error().message();
  EXPECT_EQ(document->rounds, 4u);
  EXPECT_GT(document->environment.machine.cores, 0u);
  ASSERT_EQ(document->cases.size(), 1u);
  EXPECT_EQ(document->cases[0].name, kOneGroup);
  EXPECT_GE(document->cases[0].contenders.size(), 6u);
  for (const BenchContender& contender : document->cases[0].contenders) {
    EXPECT_EQ(contender.repetitions.size(), 4u) << contender.name;
    EXPECT_GT(contender.answers_checked, 0u) << contender.name;
  }
}

TEST_F(CommandTest, AnInterruptKeepsWhatWasMeasured) {
  const std::string path = Path("bench.json");
  // Far more rounds than the time to the signal; the first table means that one group is done.
  ChildProcess child({SCHEDQ_PROGRAM, "bench", "1_thread/", "--quick", "--json", path,
                      "--benchmark_repetitions=100"});
  ASSERT_TRUE(child.WaitForOutput("to best rival"));
  child.Signal(SIGINT);
  const ChildProcess::Ended ended = child.Wait();
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.err, IsEmpty());

  const Result<BenchDocument> document = ReadDocument<BenchDocument>(path);
  ASSERT_TRUE(document.ok()) << document.error().message();
  ASSERT_FALSE(document->cases.empty());
  EXPECT_EQ(document->cases[0].contenders[0].repetitions.size(), 100u);
  size_t rounds = 0;
  for (const BenchCase& one : document->cases) rounds += one.contenders[0].repetitions.size();
  EXPECT_LT(rounds, 400u) << "all four groups ran to their end";
}

}  // namespace
}  // namespace schedq
