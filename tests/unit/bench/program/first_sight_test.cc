// Goal: a newcomer finds the way: `schedq` alone, help, completions and man pages, tables that fit
// the terminal, a progress line that never wraps, and a failure that says its reason.
// Method: runs the built program as a user would, also on a terminal of 80 and of 160 columns.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "perf/text/table.h"
#include "tests/support/child_process.h"

namespace schedq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

ChildProcess::Ended Schedq(Words arguments) {
  arguments.insert(arguments.begin(), SCHEDQ_PROGRAM);
  return RunProgram(arguments);
}

// All that the program shows on a terminal of so many columns, stdout and stderr together.
std::string OnTerminal(uint16_t columns, Words arguments, const Words& environment = {}) {
  arguments.insert(arguments.begin(), {"/usr/bin/env", "TERM=xterm", SCHEDQ_PROGRAM});
  arguments.insert(arguments.begin() + 2, environment.begin(), environment.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 24;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  std::string text;
  char block[4096];
  for (ssize_t count = 0; (count = read(terminal, block, sizeof(block))) > 0;) {
    text.append(block, static_cast<size_t>(count));
  }
  close(terminal);
  waitpid(child, nullptr, 0);
  return text;
}

// What stands on one line of the terminal at a time: a carriage return begins it anew. Colours and
// erasures take no columns.
Words TerminalLines(const std::string& text) {
  Words lines(1);
  bool is_escape = false;
  for (const char letter : text) {
    if (letter == '\x1b') is_escape = true;
    if (letter == '\r' || letter == '\n') lines.emplace_back();
    if (!is_escape && letter != '\r' && letter != '\n') lines.back() += letter;
    if (letter == 'm' || letter == 'K') is_escape = false;
  }
  return lines;
}

size_t Widest(const std::string& text) {
  size_t widest = 0;
  for (const std::string& line : TerminalLines(text)) {
    widest = std::max(widest, DisplayWidth(line));
  }
  return widest;
}

// The names under "Commands:" of `schedq --help`.
Words CommandNames() {
  std::istringstream help(Schedq({"--help"}).out);
  Words names;
  bool is_list = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Commands:") is_list = true;
    if (line.empty()) is_list = false;
    if (is_list && line.size() > 2 && line[0] == ' ' && line[2] != ' ') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

TEST(FirstSight, AloneItShowsInTenLinesWhatToTypeNext) {
  const ChildProcess::Ended ended = Schedq({});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.err, IsEmpty());
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 10) << ended.out;
  EXPECT_LE(Widest(ended.out), 80u);
  for (const char* step : {"  schedq run --labels short ", "  schedq profile requeue --quick ",
                           "  schedq gate --base HEAD~1 ", "  schedq help "}) {
    EXPECT_THAT(ended.out, HasSubstr(step));
  }
  EXPECT_EQ(Schedq({"run", "--labels", "short"}).exit_code, 0) << "the first step works";
}

TEST(FirstSight, HelpIsTheSameByEveryNameAndHasExamplesAndExitCodes) {
  EXPECT_EQ(Schedq({"-h"}).out, Schedq({"--help"}).out);
  EXPECT_EQ(Schedq({"help"}).out, Schedq({"--help"}).out);
  const Words names = CommandNames();
  ASSERT_GE(names.size(), 12u);
  for (const std::string& name : names) {
    const ChildProcess::Ended help = Schedq({name, "--help"});
    EXPECT_EQ(help.exit_code, 0) << name;
    EXPECT_THAT(help.err, IsEmpty()) << name;
    EXPECT_THAT(help.out, StartsWith("schedq " + name + ": "));
    EXPECT_THAT(help.out, HasSubstr("\nUsage: schedq " + name + " [flags]")) << name;
    EXPECT_THAT(help.out, HasSubstr("\nExample")) << name;
    EXPECT_THAT(help.out, HasSubstr("\nExit codes:\n  0    good\n")) << name;
    EXPECT_LE(Widest(help.out), 80u) << name;
    EXPECT_EQ(Schedq({name, "-h"}).out, help.out);
    EXPECT_EQ(Schedq({"help", name}).out, help.out);
  }
}

TEST(FirstSight, HelpFitsTheTerminal) {
  EXPECT_LE(Widest(OnTerminal(80, {"help", "run"})), 80u);
  const size_t wide = Widest(OnTerminal(160, {"help", "run"}));
  EXPECT_GT(wide, 80u);
  EXPECT_LE(wide, 100u);
  EXPECT_LE(Widest(OnTerminal(60, {"help"})), 60u);
}

TEST(FirstSight, TablesFitTheTerminal) {
  for (const Words& command :
       {Words{"run", "--labels", "short"}, Words{"run", "--suite", "kep", "--labels", "short"},
        Words{"list"}, Words{"profile", "requeue", "--quick"}}) {
    SCOPED_TRACE(testing::PrintToString(command));
    EXPECT_LE(Widest(OnTerminal(80, command)), 80u);
    EXPECT_LE(Widest(OnTerminal(160, command)), 100u);
    EXPECT_LE(Widest(Schedq(command).out), 100u);
  }
  for (const Words& slow :
       {Words{"floor", "--quick"}, Words{"bench", "--bars", "pod_life", "--quick"}}) {
    EXPECT_LE(Widest(OnTerminal(80, slow)), 80u) << slow.front();
  }
}

TEST(FirstSight, WideShowsWhatDoesNotFit) {
  const std::string narrow = OnTerminal(80, {"run", "--labels", "short"});
  EXPECT_THAT(narrow, HasSubstr("--wide adds: attempts, hints asked"));
  EXPECT_THAT(narrow, Not(HasSubstr("hints asked: ")));
  const std::string wide = OnTerminal(80, {"run", "--labels", "short", "--wide"});
  EXPECT_THAT(wide, Not(HasSubstr("--wide adds")));
  EXPECT_THAT(wide, HasSubstr("hints asked: how often"));
}

TEST(FirstSight, TheVerdictComesFirstAndWordsAreExplained) {
  const ChildProcess::Ended run = Schedq({"run", "--labels", "short"});
  EXPECT_THAT(run.out, StartsWith("21 measured, 0 skipped, no thresholds\n"));
  EXPECT_THAT(run.out, HasSubstr("p99 wait: 99 of 100 pods were bound within"));
  EXPECT_THAT(run.out, HasSubstr("docs/glossary.md"));
  EXPECT_THAT(run.out, HasSubstr(" 12.0 min ")) << "durations in units that people read";
  const ChildProcess::Ended suite = Schedq({"run", "--name", "Basic/500"});
  EXPECT_THAT(suite.out, StartsWith("1 measured, 0 skipped, 1 of 1 thresholds met\n"));
  EXPECT_THAT(Schedq({"list"}).out, StartsWith("18 cases, 42 workloads: 42 can run"));
  const ChildProcess::Ended kep = Schedq({"run", "--suite", "kep", "--labels", "short"});
  EXPECT_THAT(kep.out, HasSubstr("blind pod-s: seconds, summed over pods"));
}

TEST(FirstSight, OneProgressLineThatNeverWraps) {
  const Words command = {"run", "--suite", "kep", "--labels", "short"};
  for (const uint16_t columns : {30, 80, 160}) {
    size_t steps = 0;
    bool tells_time = false;
    for (const std::string& line : TerminalLines(OnTerminal(columns, command))) {
      if (line.find("/27 ") == std::string::npos) continue;
      ++steps;
      EXPECT_LT(DisplayWidth(line), columns);
      if (line.find(" left") != std::string::npos) tells_time = true;
    }
    EXPECT_GE(steps, 27u) << columns;
    EXPECT_TRUE(tells_time) << columns;
  }
  EXPECT_THAT(Schedq(command).err, IsEmpty()) << "nobody watches";
  EXPECT_THAT(OnTerminal(80, command, {"TERM=dumb"}), Not(HasSubstr("/27 ")));
}

TEST(FirstSight, NoColourWhereItIsNotWanted) {
  const Words command = {"run", "--name", "Basic/10"};
  EXPECT_THAT(OnTerminal(80, command), HasSubstr("\x1b[32m"));
  EXPECT_THAT(OnTerminal(80, command, {"NO_COLOR=1"}), Not(HasSubstr("\x1b[32m")));
  EXPECT_THAT(Schedq(command).out, Not(HasSubstr("\x1b")));
}

// Words that bash offers for the last of `words`.
std::string BashOffers(const std::string& script, const std::string& words) {
  return RunProgram({"/bin/bash", "-c",
                     "source " + script + "; COMP_WORDS=(" + words +
                         "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _schedq; "
                         "echo \"${COMPREPLY[*]}\""})
      .out;
}

TEST(FirstSight, ShellsCompleteCommandsFlagsAndValues) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  const std::string script = folder.File("schedq.bash");
  ASSERT_TRUE(WriteFileAtomically(script, Schedq({"completion", "bash"}).out).ok());
  EXPECT_EQ(BashOffers(script, "schedq r"), "run replay\n");
  EXPECT_EQ(BashOffers(script, "schedq run --rec"), "--record\n");
  EXPECT_EQ(BashOffers(script, "schedq run --engine ''"), "lockfree classic both\n");
  EXPECT_EQ(BashOffers(script, "schedq profile di"), "dispatch\n");
  EXPECT_EQ(BashOffers(script, "schedq help comp"), "compare completion\n");
  EXPECT_EQ(BashOffers(script, "schedq replay " + folder.File("sche")), script + "\n");
  const std::string zsh = Schedq({"completion", "zsh"}).out;
  EXPECT_THAT(zsh, StartsWith("#compdef schedq\n"));
  EXPECT_THAT(zsh, HasSubstr("'*--engine[The engine]:value:(lockfree classic both)'"));
  const std::string fish = Schedq({"completion", "fish"}).out;
  EXPECT_THAT(fish, HasSubstr("__fish_seen_subcommand_from run' -l engine -x -a 'lockfree"));
  for (const std::string& name : CommandNames()) {
    EXPECT_THAT(zsh, HasSubstr("      '" + name + ":")) << name;
    EXPECT_THAT(fish, HasSubstr(" -a " + name + " -d ")) << name;
  }
}

TEST(FirstSight, ManPagesOfAllCommands) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::Make());
  ASSERT_EQ(Schedq({"man", "--out", folder.path()}).exit_code, 0);
  Words names = CommandNames();
  for (std::string& name : names) name = "schedq-" + name;
  names.emplace_back("schedq");
  for (const std::string& name : names) {
    const std::string file = folder.File(name + ".1");
    const Result<std::string> page = ReadWholeFile(file);
    ASSERT_TRUE(page.ok()) << name;
    EXPECT_THAT(*page, StartsWith(".TH SCHEDQ"));
    EXPECT_THAT(*page, HasSubstr("\n.SH EXIT STATUS\n")) << name;
    EXPECT_THAT(*page, HasSubstr("\n.SH EXAMPLES\n")) << name;
    if (!std::filesystem::exists("/usr/bin/groff")) continue;
    const ChildProcess::Ended groff =
        RunProgram({"/usr/bin/groff", "-man", "-ww", "-Tascii", "-z", file});
    EXPECT_EQ(groff.exit_code, 0) << name;
    EXPECT_THAT(groff.err, IsEmpty()) << name;
  }
  EXPECT_EQ(Schedq({"man", "run"}).out, *ReadWholeFile(folder.File("schedq-run.1")));
  EXPECT_EQ(Schedq({"man"}).out, *ReadWholeFile(folder.File("schedq.1")));
}

}  // namespace
}  // namespace schedq
