#include "bench/program/commands/compare_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "bench/interrupt.h"
#include "bench/program/flag_values.h"
#include "perf/compare/changes.h"
#include "perf/compare/changes_report.h"
#include "perf/compare/counters.h"
#include "perf/compare/report.h"
#include "perf/text/pattern.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(70, [] { return std::make_unique<CompareCommand>(); });

constexpr double kPercent = 0.01;
constexpr size_t kCountersShownMax = 5;  // Of a workload; the gate shows more.

}  // namespace

CommandText CompareCommand::Text() const {
  CommandText text;
  text.name = "compare";
  text.purpose = "Compare two sets of results: change, confidence and verdict of each workload";
  text.examples = {{"schedq compare before/ after/", "Folders that `schedq run --out` wrote"},
                   {"schedq compare old.json new.json --format markdown", "For a pull request"}};
  text.no = "a metric is worse";
  return text;
}

void CompareCommand::Declare(CLI::App& app) {
  app.add_option("BASE", base_, "Results before: a file or a folder")->required();
  app.add_option("NEW", next_, "Results after: a file or a folder")->required();
  app.add_option("--threshold", threshold_percent_, "The change of a median that matters")
      ->capture_default_str()
      ->check(FiniteNumber())
      ->type_name("PERCENT");
  app.add_flag("--wide", is_wide_, "All columns of the table, however wide it becomes");
  app.add_flag("--all", all_, "Show the metrics that are not tested, too");
  app.add_option("--metric", metric_,
                 "Test metrics whose name this finds, beside throughput and what thresholds select")
      ->type_name("REGEX");
  app.add_option("--format", format_, "What goes to stdout")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "markdown"}));
}

Result<ExitCode> CompareCommand::Run() {
  const Result<Results> base = ReadResults(base_);
  if (!base) return Interrupted() ? Result<ExitCode>(ExitCode::kInterrupted) : base.error();
  const Result<Results> next = ReadResults(next_);
  if (!next) return Interrupted() ? Result<ExitCode>(ExitCode::kInterrupted) : next.error();
  ChangesRequest request;
  request.options.threshold = threshold_percent_ * kPercent;
  if (!metric_.empty()) {
    Result<Pattern> asked_for = Pattern::Parse(metric_);
    if (!asked_for) return Error("--metric: " + asked_for.error().message());
    request.asked_for = std::move(*asked_for);
  }
  const Result<Changes> changes = CompareMetrics(*base, *next, request);
  if (!changes) return changes.error();
  for (const Results* side : {&*base, &*next}) {
    if (!side->is_exact() || HasCounters(*side->run)) continue;
    return Error(side->path + ": has no counter, expected those of a run on the virtual clock");
  }
  if (format_ == "markdown") {
    fmt::print("{}", ChangesMarkdown(*changes, all_));
  } else {
    fmt::print("{}{}", ChangesTable(*changes, all_, LayoutOf(STDOUT_FILENO, is_wide_)),
               CountersOf(*base, *next));
  }
  if (!changes->AnyWorse()) return ExitCode::kGood;
  fmt::print(stderr, "schedq compare: a metric is worse beyond {} %\n", threshold_percent_);
  return ExitCode::kNo;
}

// The counters of two virtual runs that can be compared; a change of theirs has no good or bad.
std::string CompareCommand::CountersOf(const Results& base, const Results& next) const {
  if (!base.is_exact() || !next.is_exact()) return "";
  const Result<CounterComparison> counters = CompareCounters(*base.run, *next.run, {});
  if (!counters) return "\ncounters: " + counters.error().message() + '\n';
  const auto command = [&next](const CounterChange& change) {
    return RunAgainCommand(*next.run, change.workload, change.seed);
  };
  return "\ncounters:\n" +
         CountersText(*counters, command, kCountersShownMax, WantsColour(STDOUT_FILENO));
}

}  // namespace schedq
