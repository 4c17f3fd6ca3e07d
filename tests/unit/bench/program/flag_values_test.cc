// Goal: the value of a flag is what the user wrote, or is refused in one line with exit code 2; and
// a flag that would have no effect is refused too.
// Method: runs the built program with values that a C conversion takes for something else.
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
using testing::IsEmpty;

void ExpectRefused(std::vector<std::string> arguments, const std::string& expected) {
  arguments.insert(arguments.begin(), {"/usr/bin/timeout", "-s", "KILL", "60", SCHEDQ_PROGRAM});
  SCOPED_TRACE(testing::PrintToString(arguments));
  const ChildProcess::Ended ended = RunProgram(arguments);
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, HasSubstr(expected));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

TEST(FlagValues, ASeedIsAWholeNumberOf64Bits) {
  const std::vector<std::vector<std::string>> commands = {
      {"run", "--name", "^Basic/10"}, {"gate", "--base", "x"}, {"profile", "requeue"}, {"bench"}};
  for (const std::vector<std::string>& command : commands) {
    for (const char* value : {"-1", "", "18446744073709551616", "010", "0x10", "1e3", " 5", "+5"}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--seed", value});
      ExpectRefused(arguments, "--seed: '" + std::string(value) +
                                   "' is no whole number from 0 to 18446744073709551615");
    }
  }
  const ChildProcess::Ended largest =
      RunProgram({SCHEDQ_PROGRAM, "run", "--name", "^Basic/10", "--seed", "18446744073709551615"});
  EXPECT_EQ(largest.exit_code, 0) << largest.err;
  EXPECT_THAT(largest.out, HasSubstr("seed 18446744073709551615"));
}

TEST(FlagValues, CountsAreInTheirRange) {
  for (const char* value : {"-1", "0", "1001", "", "18446744073709551617", "01"}) {
    ExpectRefused({"run", "--repeat", value}, "is no whole number from 1 to 1000");
    ExpectRefused({"profile", "requeue", "--rounds", value}, "is no whole number from 1 to 1000");
  }
  for (const char* value : {"-1", "0", "1000,0", "10000001", "18446744073709551626"}) {
    ExpectRefused({"profile", "requeue", "--sizes", value}, "--sizes: '");
  }
}

TEST(FlagValues, AThresholdIsAFiniteNumber) {
  for (const char* value : {"inf", "nan", "-1", "1e999", "", "5%", "infinity"}) {
    ExpectRefused({"compare", "/nowhere", "/nowhere", "--threshold", value},
                  "--threshold: '" + std::string(value) + "' is no number from 0");
    const bool is_empty = std::string(value).empty();
    ExpectRefused({"gate", "--base", "/nowhere", "--tier", "time", "--threshold", value},
                  is_empty ? "the value is empty, expected REGEX=PERCENT|PERCENT"
                           : "expected REGEX=PERCENT or PERCENT");
    ExpectRefused({"gate", "--base", "/nowhere", "--threshold", "x=" + std::string(value)},
                  "expected REGEX=PERCENT");
  }
  for (const char* value : {"inf", "nan", "0", "-1", ""}) {
    ExpectRefused({"profile", "requeue", "--limit", value}, "is no number above 0");
    ExpectRefused({"bench", "--benchmark_min_time=" + std::string(value)},
                  "expected a number of seconds above 0");
  }
}

TEST(FlagValues, AnEmptyNameOfAFileIsRefused) {
  ExpectRefused({"run", "--out", ""}, "--out: the name is empty");
  ExpectRefused({"run", "--record", ""}, "--record: the name is empty");
  ExpectRefused({"gate", "--base", "x", "--junit", ""}, "--junit: the name is empty");
  ExpectRefused({"gate", "--base", "x", "--markdown", ""}, "--markdown: the name is empty");
  ExpectRefused({"floor", "--json", ""}, "--json: the name is empty");
  ExpectRefused({"bench", "--json", ""}, "--json: the name is empty");
  ExpectRefused({"profile", "requeue", "--json", ""}, "--json: the name is empty");
}

// An unset variable of a script: it once meant the default, or every workload.
TEST(FlagValues, AnEmptyValueIsRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> commands = {
      {{"run"},
       {"--suite", "--name", "--labels", "--gate", "--status-model", "--plugin", "--engine",
        "--clock", "--costs", "--schedulers", "--seed", "--jobs", "--repeat", "--out", "--format",
        "--memory", "--record", "--reference"}},
      {{"list"}, {"--suite", "--name", "--labels", "--format"}},
      {{"replay", "x"}, {"--engine", "--plugin"}},
      {{"compare", "x", "y"}, {"--threshold", "--format"}},
      {{"gate"},
       {"--base", "--new", "--tier", "--threshold", "--name", "--labels", "--seed", "--engine",
        "--junit", "--markdown"}},
      {{"profile", "requeue"},
       {"--sizes", "--only", "--plugin", "--rounds", "--limit", "--memory", "--seed", "--json",
        "--operations"}},
      {{"bench"},
       {"--json", "--seed", "--benchmark_filter", "--benchmark_min_time", "--benchmark_out"}},
      {{"floor"}, {"--json"}},
      {{"man"}, {"--out"}}};
  for (const auto& [command, flags] : commands) {
    for (const std::string& flag : flags) {
      std::vector<std::string> arguments = command;
      arguments.push_back(flag + "=");
      if (flag.starts_with("--benchmark")) {
        ExpectRefused(arguments, flag + "=: expected ");
        continue;
      }
      ExpectRefused(arguments, flag + "=: the value is empty");
      arguments.back() = flag;
      arguments.emplace_back("");
      ExpectRefused(arguments, flag + ": ");
    }
  }
  for (const char* command :
       {"run", "list", "replay", "compare", "profile", "bench", "help", "man", "completion"}) {
    ExpectRefused({command, ""}, "the value is empty, expected ");
  }
  // CLI11 took what follows for the value.
  ExpectRefused({"list", "--name=", "Basic"}, "--name=: the value is empty");
}

TEST(FlagValues, AFlagWithoutEffectIsRefused) {
  ExpectRefused({"profile", "requeue", "--operations", "5"}, "--operations requires --run-once");
  for (const std::vector<std::string>& flag :
       std::vector<std::vector<std::string>>{{"--json", "x"}, {"--rounds", "2"}, {"--callgrind"}}) {
    std::vector<std::string> arguments = {"profile", "requeue", "--run-once"};
    arguments.insert(arguments.end(), flag.begin(), flag.end());
    ExpectRefused(arguments, "--run-once excludes " + flag[0]);
  }
  ExpectRefused({"list", "--suite", "kep", "x.yaml"}, "--suite kep: expected either a suite or");
  ExpectRefused({"run", "--suite", "kep", "x.yaml"}, "x.yaml: does not exist");
  ExpectRefused({"bench", "--list", "--json", "x"}, "--json: expected no --list");
  ExpectRefused({"gate", "--base", "/", "--threshold", "5"}, "is for the tier time");
  ExpectRefused({"gate", "--base", "/", "--tier", "time", "--threshold", "a=5"},
                "is for the tier semantic");
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  for (const char* flag : {"--name", "--labels"}) {
    ExpectRefused({"gate", "--base", folder.path(), "--new", folder.path(), flag, "x"},
                  "expected none with two folders");
  }
}

// Names that are no text were the program's fault (exit code 3), as were files that are none.
TEST(FlagValues, NamesThatAreNotUtf8AreNames) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const std::string file = folder.File("a\xff.yaml");
  std::ofstream(file) << "- name: C\n  workloadTemplate:\n  - {opcode: createNodes, count: 1}\n"
                         "  - {opcode: createPods, count: 1, collectMetrics: true}\n"
                         "  workloads:\n  - name: W\n";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"run", file},
           {"run", file, "--format", "json"},
           {"run", file, "--out", folder.File("o\xff"), "--record", folder.File("r\xff")},
           {"replay", folder.File("r\xff")},
           {"list", file},
           {"list", file, "--format", "json"},
           {"compare", folder.File("o\xff"), folder.File("o\xff")}}) {
    std::vector<std::string> command = arguments;
    command.insert(command.begin(), SCHEDQ_PROGRAM);
    const ChildProcess::Ended ended = RunProgram(command);
    EXPECT_EQ(ended.exit_code, 0) << testing::PrintToString(arguments) << ended.err;
  }
  // The last two wait for the kernel's next message, and for the one after.
  for (const char* input : {"\xff", "/dev/zero", "/", "/proc/kmsg", "/dev/kmsg"}) {
    for (const std::vector<std::string>& flags :
         std::vector<std::vector<std::string>>{{"run", input},
                                               {"run", "--costs", input},
                                               {"run", "--plugin", input},
                                               {"list", input},
                                               {"replay", input},
                                               {"gate", "--base", input},
                                               {"compare", input, "/dev/null"},
                                               {"compare", "/dev/null", input}}) {
      ExpectRefused(flags, "expected");
    }
  }
  ExpectRefused({"run", "--name", "\xff"}, "'\\xff': invalid UTF-8");
  ExpectRefused({"\xff"}, "unknown command '\\xff'");
}

// Each of these waited for a writer, for ever.
TEST(FlagValues, NoPipeIsWaitedFor) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const std::string fifo = folder.File("fifo.json");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"run", fifo},
                                             {"run", "--costs", fifo},
                                             {"run", "--plugin", fifo},
                                             {"list", fifo},
                                             {"replay", fifo},
                                             {"replay", "--plugin", fifo, fifo},
                                             {"compare", fifo, fifo},
                                             {"compare", folder.path(), folder.path()},
                                             {"gate", "--base", fifo},
                                             {"profile", "requeue", "--plugin", fifo}}) {
    std::vector<std::string> command = {"/usr/bin/timeout", "-s", "KILL", "60", SCHEDQ_PROGRAM};
    command.insert(command.end(), flags.begin(), flags.end());
    EXPECT_EQ(RunProgram(command).exit_code, 2) << testing::PrintToString(flags);
  }
}

// A flag's expression took exponential time, or crashed.
TEST(FlagValues, NoExpressionHangsOrCrashesACommand) {
  const std::string nested = std::string(20'000, '(') + std::string(20'000, ')');
  const std::string slow = "^(a*)*(a*)*(a*)*$";
  for (const std::string& expression : {nested, slow}) {
    EXPECT_LE(RunProgram({SCHEDQ_PROGRAM, "list", "--name", expression}).exit_code, 2);
  }
  EXPECT_LT(RunProgram({SCHEDQ_PROGRAM, "run", "--" + nested}).err.size(), 3000u);
  const std::string open(20'000, '(');
  ExpectRefused({"run", "--name", open}, "missing ), expected a regular expression");
  ExpectRefused({"run", "--suite", "kep", "--name", open}, "expected a regular expression");
  ExpectRefused({"bench", open}, "expected a regular expression");
  ExpectRefused({"bench", "--bars", open}, "expected a regular expression");
  ExpectRefused({"profile", "requeue", "--only", open}, "expected a regular expression");
  ExpectRefused({"gate", "--base", "/", "--threshold", open + "=5"},
                "expected a regular expression");
}

// Their metrics went into one file, and the gate looked at the first of them only.
TEST(FlagValues, TwoWorkloadsOfOneNameAreRefused) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const auto write = [&folder](const std::string& file, const std::string& test_case,
                               const std::string& workload) {
    std::ofstream(folder.File(file))
        << "- name: " << test_case << "\n  workloadTemplate:\n  - {opcode: createNodes, count: 1}\n"
        << "  - {opcode: createPods, count: 1, collectMetrics: true}\n  workloads:\n  - name: "
        << workload << "\n";
    return folder.File(file);
  };
  const std::string first = write("a.yaml", "C", "W");
  ExpectRefused({"run", first, write("b.yaml", "C", "W")}, "C/W has the name of that at " + first);
  ExpectRefused({"run", first, first}, "expected unique names");
  ExpectRefused({"run", write("c.yaml", "x", "y_z"), write("d.yaml", "x_y", "z")},
                "x_y/z has the name of that at");
}

}  // namespace
}  // namespace schedq
