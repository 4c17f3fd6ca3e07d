// Goal: `schedq gate` takes folders, programs and commits, passes what is unchanged, fails what is
// not, and never passes what it could not compare; `schedq compare` says what changed.
// Method: runs the built program as continuous integration would; other builds are scripts around
// it, and a repository whose build is a copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/sanitizers.h"
#include "perf/documents/data_items.h"
#include "perf/documents/document.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "tests/support/child_process.h"
#include "tests/support/program_fixture.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class GateCommandTest : public ProgramTest {
 protected:
  static ChildProcess::Ended Run(const std::string& command, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {SCHEDQ_PROGRAM, command});
    return RunProgram(arguments);
  }
  static ChildProcess::Ended Gate(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--name", "^(Basic/10|ClaimTemplates/5Nodes_20)"});
    return Run("gate", arguments);
  }
  static void ExpectRefused(const std::vector<std::string>& arguments, const std::string& why) {
    const ChildProcess::Ended ended = Run("gate", arguments);
    EXPECT_EQ(ended.exit_code, 2) << ended.out;
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, HasSubstr(why));
  }
  // Folders of scheduler_perf's own results, one file a repetition.
  std::string GoResults(const std::string& name, double pods_per_second, int repetitions) const {
    for (int i = 0; i < repetitions; ++i) {
      DataItemsDocument document;
      DataItem& item = document.items.emplace_back();
      item.data["Average"] = pods_per_second + i % 3;
      item.unit = "pods/s";
      item.labels = {{"Metric", "SchedulingThroughput"}, {"Name", "C/W/n"}};
      const std::string file = name + "/run" + std::to_string(i) + ".json";
      EXPECT_TRUE(WriteDocument(document, Path(file)).ok());
    }
    return Path(name);
  }
};

TEST_F(GateCommandTest, TheSameProgramPasses) {
  const ChildProcess::Ended ended = Gate({"--base", SCHEDQ_PROGRAM});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, StartsWith("engine lockfree:\nsemantic: pass\n2 workloads, "));
  EXPECT_THAT(ended.out, HasSubstr("\nengine classic:\nsemantic: pass\n2 workloads, "));
  const ChildProcess::Ended one = Gate({"--base", SCHEDQ_PROGRAM, "--engine", "classic"});
  EXPECT_THAT(one.out, StartsWith("semantic: pass\n2 workloads, "));
}

TEST_F(GateCommandTest, AProgramThatDoesNotNarrowFails) {
  const std::string other =
      Script("other", "exec " SCHEDQ_PROGRAM " \"$@\" --gate SchedulerPreQueueingHints=false");
  const ChildProcess::Ended ended = Gate({"--base", SCHEDQ_PROGRAM, "--new", other});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("scheduler_pre_queueing_hint_evaluations_total"));
  EXPECT_THAT(ended.out, HasSubstr("--seed 1 --engine classic --format json"));
  EXPECT_THAT(ended.err, HasSubstr("schedq gate: the semantic tier fails"));
  EXPECT_THAT(ended.out,
              HasSubstr("reproduce: " + other + " run --name '^ClaimTemplates/5Nodes_20Pods$'"));
}

// The file held the first engine that failed, and was silent about the other.
TEST_F(GateCommandTest, AReportHasBothEngines) {
  const std::string other =
      Script("other", "exec " SCHEDQ_PROGRAM " \"$@\" --gate SchedulerPreQueueingHints=false");
  const ChildProcess::Ended ended = Gate({"--base", SCHEDQ_PROGRAM, "--new", other, "--junit",
                                          Path("g.xml"), "--markdown", Path("g.md")});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  const std::string junit = *ReadWholeFile(Path("g.xml"));
  EXPECT_THAT(junit, HasSubstr("<testsuites name=\"schedq gate\" tests=\"4\" failures=\"2\">"));
  const std::string markdown = *ReadWholeFile(Path("g.md"));
  for (const std::string engine : {"lockfree", "classic"}) {
    EXPECT_THAT(junit, HasSubstr("<testsuite name=\"schedq gate " + engine +
                                 ".semantic\" tests=\"2\" failures=\"1\" skipped=\"0\" time="));
    EXPECT_THAT(junit, HasSubstr("classname=\"schedq.gate." + engine +
                                 ".semantic\" name=\"ClaimTemplates/5Nodes_20Pods\""));
    EXPECT_THAT(markdown, HasSubstr("## Engine " + engine + "\n\n### Semantic tier"));
  }
}

// A metric that the new side lost was only listed.
TEST_F(GateCommandTest, AMetricThatIsGoneFailsTheTimeTier) {
  const std::string base = GoResults("base", 100, 10);
  const std::string next = GoResults("next", 100, 10);
  for (int i = 0; i < 10; ++i) {
    const std::string file = Path("base/run" + std::to_string(i) + ".json");
    DataItemsDocument document = *ReadDocument<DataItemsDocument>(file);
    document.items.push_back(document.items[0]);
    document.items[1].labels["Metric"] = "Latency";
    ASSERT_TRUE(WriteDocument(document, file).ok());
  }
  const ChildProcess::Ended ended =
      Run("gate", {"--base", base, "--new", next, "--tier", "time", "--junit", Path("gate.xml")});
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("time: FAIL"));
  EXPECT_THAT(ended.err, HasSubstr("the new results lack C/W/n: Latency Average"));
  EXPECT_THAT(*ReadWholeFile(Path("gate.xml")), HasSubstr("failures=\"1\""));
}

TEST_F(GateCommandTest, ResultsWithoutCountersAreNeverAPass) {
  const std::string folder = Path("results");
  ASSERT_EQ(Run("run", {"--name", "^Basic/10", "--out", folder}).exit_code, 0);
  RunDocument document = *ReadDocument<RunDocument>(folder + "/results.json");
  const auto refused = [&](const RunDocument& changed, const std::string& why) {
    ASSERT_TRUE(WriteDocument(changed, folder + "/results.json").ok());
    ExpectRefused({"--base", folder, "--new", folder}, why);
    const ChildProcess::Ended compared = Run("compare", {folder, folder});
    EXPECT_EQ(compared.exit_code, 2) << compared.out;
    EXPECT_THAT(compared.out, IsEmpty());
  };
  RunDocument changed = document;
  changed.workloads[0].repetitions[0].counters.clear();
  refused(changed, "no counter was measured in both");
  changed = document;
  changed.workloads[0].repetitions.clear();
  refused(changed, "was measured in no repetition");
  changed = document;
  changed.workloads.push_back(changed.workloads[0]);
  refused(changed, "is there twice");
  changed = document;
  changed.workloads.clear();
  refused(changed, "no workload was measured in both");
}

// What a user copies runs the program that was meant, whatever its name.
TEST_F(GateCommandTest, TheLineThatReproducesIsQuotedForAShell) {
  const std::string other =
      Script("it's $(touch x) other",
             "exec " SCHEDQ_PROGRAM " \"$@\" --gate SchedulerPreQueueingHints=false");
  const ChildProcess::Ended ended =
      Gate({"--base", SCHEDQ_PROGRAM, "--new", other, "--engine", "classic"});
  EXPECT_EQ(ended.exit_code, 1);
  const std::string lead = "reproduce: ";
  const size_t from = ended.out.find(lead);
  ASSERT_NE(from, std::string::npos) << ended.out;
  const size_t end = ended.out.find('\n', from);
  const std::string line = ended.out.substr(from + lead.size(), end - from - lead.size());
  const ChildProcess::Ended again = RunProgram({"/bin/sh", "-c", line});
  EXPECT_EQ(again.exit_code, 0) << line << again.err;
  EXPECT_THAT(again.out, HasSubstr("\"workload\": \"5Nodes_20Pods\""));
  EXPECT_FALSE(std::filesystem::exists("x"));
}

// Names of results that others wrote: an escape sequence, a quote, markup.
TEST_F(GateCommandTest, NamesOfResultsReachNoTerminalShellOrReportAsTheyAre) {
  const std::string base = Path("base");
  const std::string next = Path("next");
  ASSERT_EQ(Run("run", {"--name", "^Basic/10", "--out", base}).exit_code, 0);
  RunDocument document = *ReadDocument<RunDocument>(base + "/results.json");
  document.workloads[0].workload = "\x1b[2Jit's|<b>\n$(touch x)";
  document.workloads[0].repetitions[0].counters["c\x1b[31m"] = 1;
  ASSERT_TRUE(WriteDocument(document, base + "/results.json").ok());
  document.workloads[0].repetitions[0].counters["c\x1b[31m"] = 2;
  document.workloads[0].repetitions[0].metrics[0].labels["Name"] = "\x1b]0;title\x07";
  ASSERT_TRUE(WriteDocument(document, next + "/results.json").ok());
  const ChildProcess::Ended ended = Run("gate", {"--base", base, "--new", next, "--junit",
                                                 Path("g.xml"), "--markdown", Path("g.md")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("\\x1b[2Jit's|<b>"));
  const ChildProcess::Ended compared = Run("compare", {base, next});
  EXPECT_THAT(compared.out, HasSubstr("\\x1b]0;title\\x07"));
  for (const std::string& text : {ended.out, ended.err, compared.out, compared.err,
                                  *ReadWholeFile(Path("g.xml")), *ReadWholeFile(Path("g.md"))}) {
    for (const char letter : text) {
      ASSERT_TRUE(letter == '\n' || static_cast<unsigned char>(letter) >= 0x20) << text;
    }
  }
  EXPECT_THAT(*ReadWholeFile(Path("g.xml")), HasSubstr("name=\"Basic/\\x1b[2Jit's|&lt;b&gt;"));
  EXPECT_THAT(*ReadWholeFile(Path("g.md")), HasSubstr("it's\\|<b>"));
}

TEST_F(GateCommandTest, ABaseThatCannotRunIsNeverAPass) {
  ExpectRefused({"--base", Script("usage", "echo 'no such flag' >&2; exit 2")}, "no such flag");
  ExpectRefused({"--base", Script("bug", "echo 'internal error' >&2; exit 3")},
                "cannot run: exit code 3: internal error");
  ExpectRefused({"--base", Script("silent", "exit 0")}, "does not exist, expected a readable file");
  ExpectRefused({"--base", "no-such-commit"}, "expected one of them");
  ExpectRefused({"--base", Write("text", "x")}, "cannot be executed");
  std::filesystem::create_directory(Path("empty"));
  ExpectRefused({"--base", Path("empty")}, "holds no results");
}

TEST_F(GateCommandTest, ANewProgramThatCrashesFails) {
  const std::string bug = Script("bug", "echo 'internal error' >&2; exit 3");
  const ChildProcess::Ended ended =
      Gate({"--base", SCHEDQ_PROGRAM, "--new", bug, "--junit", Path("gate.xml")});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("ended with a bug: exit code 3: internal error"));
  EXPECT_THAT(*ReadWholeFile(Path("gate.xml")), HasSubstr("failures=\"1\""));
}

TEST_F(GateCommandTest, ACommitIsBuiltOnceAndRun) {
  Write("repository/CMakePresets.json",
        R"({"version": 6, "configurePresets": [{"name": "dev", "generator": "Ninja",
            "binaryDir": "${sourceDir}/build/dev"}]})");
  Write("repository/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(fake NONE)\n"
        "add_custom_target(schedq COMMAND ${CMAKE_COMMAND} -E create_symlink " SCHEDQ_PROGRAM
        " schedq)\n");
  const std::string git =
      "git -c user.name=t -c user.email=t@t -c init.defaultBranch=main -c commit.gpgsign=false ";
  const std::string gate =
      Script("in-repository", "cd " + Path("repository") + " && { [ -d .git ] || { " + git +
                                  "init -q && git add . && " + git +
                                  "commit -qm x --no-verify; }; } && exec " SCHEDQ_PROGRAM
                                  " gate --base HEAD --name '^Basic/10'");
  const ChildProcess::Ended first = RunProgram({gate});
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_THAT(first.err, HasSubstr("schedq gate: build "));
  EXPECT_THAT(first.out, HasSubstr("semantic: pass"));
  const ChildProcess::Ended second = RunProgram({gate});
  EXPECT_EQ(second.exit_code, 0);
  EXPECT_THAT(second.err, IsEmpty()) << "nothing to build any more";
}

TEST_F(GateCommandTest, BothSidesRunTheEngineThatIsNamed) {
  const std::string arguments = Path("arguments");
  const std::string other =
      Script("other", "echo \"$@\" >> " + arguments + "; exec " SCHEDQ_PROGRAM " \"$@\"");
  const ChildProcess::Ended ended = Gate({"--base", other, "--new", other, "--engine", "classic"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  const std::string both = *ReadWholeFile(arguments);
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 2) << both;
  EXPECT_EQ(both.find("--engine classic"), both.find("--engine")) << both;
  EXPECT_NE(both.find("--engine classic"), both.rfind("--engine classic")) << both;
  ExpectRefused({"--base", other, "--engine", "fast"}, "--engine: unknown engine 'fast'");
}

TEST_F(GateCommandTest, TheTimeTierJudgesFoldersOfRepetitions) {
  const std::string base = GoResults("base", 100, 10);
  const auto time = [&](const std::string& next) {
    return Run("gate", {"--base", base, "--new", next, "--tier", "time"});
  };
  const ChildProcess::Ended same = time(GoResults("same", 100, 10));
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, StartsWith("time: pass\n"));
  const ChildProcess::Ended slower = time(GoResults("slower", 80, 10));
  EXPECT_EQ(slower.exit_code, 1) << slower.out;
  EXPECT_THAT(slower.out, HasSubstr("slower"));
  ExpectRefused({"--base", base, "--new", GoResults("semantic", 100, 10)}, "has no results.json");
}

// Of six runs against six it said that ten were expected.
TEST_F(GateCommandTest, TheTimeTierFindsARegressionInSixRuns) {
  const ChildProcess::Ended ended =
      Run("gate", {"--base", GoResults("base", 242, 6), "--new", GoResults("next", 222, 6),
                   "--tier", "time", "--strict"});
  EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("6 + 6"));
}

TEST_F(GateCommandTest, WhatCannotBeToldIsAVerdictOfItsOwn) {
  const std::string base = GoResults("base", 100, 3);
  const std::string next = GoResults("next", 80, 3);
  const std::vector<std::string> gate = {"--base", base,   "--new",   next,
                                         "--tier", "time", "--junit", Path("g.xml")};
  std::vector<std::string> strict = gate;
  strict.push_back("--strict");
  const ChildProcess::Ended lax = Run("gate", gate);
  EXPECT_EQ(lax.exit_code, 0) << lax.out;
  EXPECT_THAT(lax.out, StartsWith("time: cannot tell\n"));
  EXPECT_THAT(lax.out, HasSubstr("cannot tell, 5 runs needed"));
  EXPECT_THAT(lax.err, HasSubstr("schedq gate: the time tier cannot tell of 1 of the metrics, such "
                                 "as C/W/n: SchedulingThroughput Average: 3 and 3 runs, 5 runs "
                                 "needed of each side"));
  EXPECT_THAT(*ReadWholeFile(Path("g.xml")), HasSubstr("<skipped message=\"cannot tell, 5 runs"));
  const ChildProcess::Ended told = Run("gate", strict);
  EXPECT_EQ(told.exit_code, 4) << told.out;
  EXPECT_THAT(*ReadWholeFile(Path("g.xml")), HasSubstr("<failure message=\"cannot tell, 5 runs"));
}

TEST_F(GateCommandTest, WhatFailsIsAnnotated) {
  const std::vector<std::string> gate = {
      "--base", GoResults("base", 100, 6), "--new", GoResults("next", 80, 6), "--tier", "time"};
  std::vector<std::string> annotated = gate;
  annotated.push_back("--annotate");
  EXPECT_THAT(Run("gate", annotated).out,
              HasSubstr("::error title=schedq gate time::C/W/n: -19.8 %25\n"));
  EXPECT_THAT(Run("gate", gate).out, Not(HasSubstr("::error")));
}

// valgrind and the address sanitizer do not go together.
TEST_F(GateCommandTest, InstructionsOfOnePathAreCounted) {
  if (kUnderAddressSanitizer) GTEST_SKIP();
  const std::vector<std::string> gate = {"--tier", "instructions", "--name",
                                         "^dispatch schedq/cancel$"};
  std::vector<std::string> same = gate;
  same.insert(same.end(), {"--base", SCHEDQ_PROGRAM});
  const ChildProcess::Ended ended = Run("gate", same);
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out,
              StartsWith("instructions: pass\n1 paths and workloads counted: 0 execute"));
  EXPECT_THAT(ended.out, HasSubstr("dispatch schedq/cancel  +0.00 %"));
  // What valgrind cannot look into counts nothing, and is no base.
  std::vector<std::string> script = gate;
  script.insert(script.end(), {"--base", Script("script", "exec " SCHEDQ_PROGRAM " \"$@\"")});
  ExpectRefused(script, "--tier instructions: ");
}

TEST_F(GateCommandTest, BadFlagsAreRefused) {
  ExpectRefused({"--base", SCHEDQ_PROGRAM, "--tier", "cache"}, "--tier");
  ExpectRefused({"--base", Path(""), "--tier", "instructions"}, "expected programs or commits");
  ExpectRefused({"--base", Path(""), "--tier", "time"}, "expected two programs");
  ExpectRefused({"--base", SCHEDQ_PROGRAM, "--bench", "x"}, "expected --tier time");
  ExpectRefused({"--base", SCHEDQ_PROGRAM, "--threshold", "x=y"}, "expected REGEX=PERCENT");
  ExpectRefused({}, "--base");
}

TEST_F(GateCommandTest, CompareShowsWhatChanged) {
  ASSERT_EQ(Run("run", {"--name", "Basic/10", "--out", Path("a")}).exit_code, 0);
  const ChildProcess::Ended same = Run("compare", {Path("a"), Path("a")});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr(": 0 differ"));
  EXPECT_THAT(same.out, HasSubstr("exact"));
  const ChildProcess::Ended slower =
      Run("compare", {GoResults("base", 100, 10), GoResults("next", 80, 10)});
  EXPECT_EQ(slower.exit_code, 1);
  EXPECT_THAT(slower.out, HasSubstr("slower"));
  EXPECT_EQ(Run("compare", {Path("a"), Path("base")}).exit_code, 2) << "nothing in common";
  EXPECT_EQ(Run("compare", {Path("a"), Path("absent")}).exit_code, 2);
}

// Two seeds are two workloads; their figures were compared as if one had changed.
TEST_F(GateCommandTest, CompareRefusesAnotherSeed) {
  ASSERT_EQ(Run("run", {"--name", "Basic/10", "--out", Path("a")}).exit_code, 0);
  ASSERT_EQ(Run("run", {"--name", "Basic/10", "--out", Path("b"), "--seed", "2"}).exit_code, 0);
  const ChildProcess::Ended other = Run("compare", {Path("a"), Path("b") + "/results.json"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.out, IsEmpty());
  EXPECT_THAT(other.err, HasSubstr("seed 1 before and 2 after, expected the same"));
}

// The line named neither file nor gate nor engine, so that it ran something else.
TEST_F(GateCommandTest, CompareSaysHowToRunAgainWhatChanged) {
  const std::string file = Write("it's mine.yaml",
                                 "- name: Mine\n"
                                 "  workloadTemplate:\n"
                                 "  - opcode: createNodes\n"
                                 "    count: 1\n"
                                 "  - opcode: createPods\n"
                                 "    count: 3\n"
                                 "    collectMetrics: true\n"
                                 "  workloads:\n"
                                 "  - name: Small\n");
  for (const char* gate : {"true", "false"}) {
    const ChildProcess::Ended ran =
        Run("run", {file, "--engine", "classic", "--gate",
                    "SchedulerAsyncAPICalls=" + std::string(gate), "--out", Path(gate)});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
  }
  const ChildProcess::Ended ended = Run("compare", {Path("true"), Path("false")});
  EXPECT_THAT(ended.out,
              HasSubstr("differs: gate SchedulerAsyncAPICalls: true before, false after"));
  const std::string lead = "reproduce: schedq ";
  const size_t from = ended.out.find(lead);
  ASSERT_NE(from, std::string::npos) << ended.out << ended.err;
  const size_t end = ended.out.find('\n', from);
  const std::string line = ended.out.substr(from + lead.size(), end - from - lead.size());
  const ChildProcess::Ended again = Shell(SCHEDQ_PROGRAM " " + line);
  ASSERT_EQ(again.exit_code, 0) << line << again.err;
  const Result<RunDocument> run = ParseDocument<RunDocument>(again.out, "again");
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->engine, "classic");
  EXPECT_FALSE(run->gates.at("SchedulerAsyncAPICalls"));
  const Result<RunDocument> first = ReadDocument<RunDocument>(Path("false") + "/results.json");
  EXPECT_EQ(run->workloads[0].repetitions[0].counters, first->workloads[0].repetitions[0].counters);
}

TEST_F(GateCommandTest, UsersFilesAreGated) {
  const std::string file = Write("mine.yaml",
                                 "- name: Mine\n"
                                 "  workloadTemplate:\n"
                                 "  - {opcode: createNodes, count: 1}\n"
                                 "  - {opcode: createPods, count: 3, collectMetrics: true}\n"
                                 "  workloads: [{name: Small}]\n");
  const ChildProcess::Ended ended =
      Run("gate", {file, "--base", SCHEDQ_PROGRAM, "--engine", "classic"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, StartsWith("semantic: pass\n1 workloads, "));
  ExpectRefused({file, "--base", Path(""), "--new", Path("")}, "expected none with two folders");
}

// Which pod went another way, and what became of it before and after.
TEST_F(GateCommandTest, TheFirstPodThatWentAnotherWayIsShown) {
  const std::string other =
      Script("other", "exec " SCHEDQ_PROGRAM " \"$@\" --gate SchedulerPopFromBackoffQ=false");
  const ChildProcess::Ended ended = Run("gate", {"--base", SCHEDQ_PROGRAM, "--new", other, "--name",
                                                 "^BackoffHeavy/50Pods$", "--engine", "classic"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("BackoffHeavy/50Pods: the runs part at line "));
  EXPECT_THAT(ended.out, HasSubstr("the first pod that went another way: "));
  EXPECT_THAT(ended.out, HasSubstr("\n  base:\n    "));
  EXPECT_THAT(ended.out, HasSubstr("\n  new:\n    "));
  // Each line that records a side is complete.
  const std::string lead = "record: ";
  size_t lines = 0;
  for (size_t at = ended.out.find(lead); at != std::string::npos;
       at = ended.out.find(lead, at + 1)) {
    const std::string line =
        ended.out.substr(at + lead.size(), ended.out.find('\n', at) - at - lead.size());
    EXPECT_EQ(Shell("cd " + Folder() + " && " + line).exit_code, 0) << line;
    ++lines;
  }
  EXPECT_EQ(lines, 2u);
  EXPECT_NE(*ReadWholeFile(Path("base.jsonl")), *ReadWholeFile(Path("new.jsonl")));
}

}  // namespace
}  // namespace schedq
