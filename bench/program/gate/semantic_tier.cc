#include "bench/program/gate/semantic_tier.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "bench/program/gate/trace_difference.h"
#include "bench/run_program.h"
#include "perf/compare/changes_report.h"
#include "perf/compare/report.h"
#include "perf/documents/run_document.h"
#include "perf/files/file_io.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr size_t kRowsShownMax = 10;  // Of a workload.

// A run of one workload that is recorded: its trace, and the command that records it again.
struct Recording {
  std::string trace;
  std::string command;
};

Result<Recording> Record(const SemanticSide& side, const std::string& workload, uint64_t seed,
                         const std::string& file, const std::string& shown_file) {
  std::vector<std::string> arguments = {side.side->program, "run"};
  const std::vector<std::string> flags = side.flags.OfOne(workload, seed);
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {"--record", file});
  const Result<ProgramEnd> end = RunProgram(arguments);
  if (!end) return end.error();
  Result<std::string> trace = ReadWholeFile(file);
  if (!trace) return Error(end->LastLine());
  arguments.back() = shown_file;
  Recording recording{std::move(*trace), ""};
  for (const std::string& word : arguments) {
    recording.command += (recording.command.empty() ? "" : " ") + ShellWord(word);
  }
  return recording;
}

// Where the two runs of a workload part; what cannot be recorded is said.
std::string WhereTheyPart(const SemanticSide& base, const SemanticSide& next,
                          const CounterChange& change, const std::string& folder) {
  const auto refuse = [](const Error& error) {
    return "where the runs part cannot be told: " + VisibleText(error.message()) + '\n';
  };
  const Result<Recording> before =
      Record(base, change.workload, change.seed, folder + "/base.jsonl", "base.jsonl");
  if (!before) return refuse(before.error());
  const Result<Recording> after =
      Record(next, change.workload, change.seed, folder + "/new.jsonl", "new.jsonl");
  if (!after) return refuse(after.error());
  const Result<std::optional<TraceDifference>> difference =
      FindTraceDifference(before->trace, after->trace);
  if (!difference) return refuse(difference.error());
  if (!*difference) return "both runs did the same operations; only counters differ\n";
  return TraceDifferenceText(**difference) + "record: " + before->command +
         "\nrecord: " + after->command + '\n';
}

std::string PartsText(const SemanticSide& base, const SemanticSide& next,
                      const CounterComparison& compared, const SemanticTierOptions& options) {
  const bool runs_both = !base.side->program.empty() && !next.side->program.empty();
  std::string text;
  std::set<std::string> recorded;
  for (const CounterChange& change : compared.failures) {
    if (!runs_both || recorded.size() >= options.recorded_max) break;
    if (change.metric == "outcome" || !recorded.insert(change.workload).second) continue;
    text += '\n' + VisibleText(change.workload) + ": " +
            WhereTheyPart(base, next, change, options.folder);
  }
  return text;
}

}  // namespace

Status JudgeSemantic(const SemanticSide& base, const SemanticSide& next,
                     const SemanticTierOptions& options, GateReport* report) {
  for (const SemanticSide* side : {&base, &next}) {
    if (side->results->run) continue;
    return Error("--tier semantic: " + side->results->path +
                 " has no results.json, expected that of a virtual run");
  }
  const RunDocument& run = *next.results->run;
  const Result<CounterComparison> compared =
      CompareCounters(*base.results->run, run, options.allowances);
  if (!compared) return Error("--tier semantic: " + compared.error().message());
  const ReproduceCommand command = [&](const CounterChange& change) {
    return CommandOf(*next.side, run, next.flags, change.workload, change.seed);
  };
  const bool passes = compared->failures.empty();
  const std::string parts = PartsText(base, next, *compared, options);
  report->text += fmt::format("semantic: {}\n", passes ? "pass" : "FAIL") +
                  CountersText(*compared, command, kRowsShownMax, options.colour) + parts;
  report->markdown += CountersMarkdown(*compared, command);
  if (!parts.empty()) report->markdown += "```text" + parts + "```\n\n";
  report->AddJunit(CountersJunit(*compared, command, SecondsOfWorkloads(*next.results)));
  report->AddSeries(run.engine + ' ', *next.results);
  if (!passes) report->Fail("the semantic tier fails: counters differ beyond their allowance");
  return Status::Ok();
}

}  // namespace schedq
