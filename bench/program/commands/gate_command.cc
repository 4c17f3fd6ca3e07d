#include "bench/program/commands/gate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "bench/interrupt.h"
#include "bench/program/output_file.h"
#include "perf/compare/changes.h"
#include "perf/compare/report.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(80, [] { return std::make_unique<GateCommand>(); });

constexpr size_t kRowsShownMax = 10;  // Of a workload.
constexpr size_t kRepetitionsMin = 10;
constexpr double kPercent = 0.01;

void ShowStep(const std::string& step) { fmt::print(stderr, "schedq gate: {}\n", step); }

}  // namespace

CommandText GateCommand::Text() const {
  CommandText text;
  text.name = "gate";
  text.purpose = "Pass or fail: compare what two builds do, or two folders of results";
  text.examples = {{"schedq gate --base HEAD~1", "Did counters change since then?", true},
                   {"schedq gate --base before/ --new after/ --tier time", "Judge measured times"},
                   {"schedq gate --base main --threshold 'attempts=2' --junit gate.xml",
                    "Let counters named attempts change by 2 %, and write a report for CI"}};
  text.no = "a tier fails, or the new program ended with a bug";
  return text;
}

void GateCommand::Declare(CLI::App& app) {
  app.add_option("--base", base_, "Before: a folder of results, a schedq program or a commit")
      ->required()
      ->type_name("REF|BINARY|DIR");
  app.add_option("--new", next_, "After; none: this program")->type_name("REF|BINARY|DIR");
  app.add_option("--tier", tiers_, "semantic, time")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::IsMember({"semantic", "time"}));
  app.add_option("--threshold", thresholds_,
                 "semantic: counters that may change by so much; time: the change that matters")
      ->type_name("REGEX=PERCENT|PERCENT")
      ->expected(1)
      ->take_all();
  app.add_option("--name", name_, "Only workloads whose case/workload this finds")
      ->type_name("REGEX");
  app.add_option("--labels", labels_, "Only workloads with label a and without b: a,-b")
      ->type_name("a,+b,-c");
  app.add_option("--engine", engine_, "The engine of both runs; none: each program's default")
      ->type_name("lockfree|classic")
      ->check(CLI::IsMember({"lockfree", "classic"}));
  app.add_option("--seed", seed_, "The seed of both runs")->capture_default_str();
  app.add_option("--junit", junit_, "Write a JUnit report here")->type_name("FILE");
  app.add_option("--markdown", markdown_, "Write a report in Markdown here")->type_name("FILE");
}

bool GateCommand::HasTier(const std::string& tier) const {
  return std::find(tiers_.begin(), tiers_.end(), tier) != tiers_.end();
}

RunFlags GateCommand::Flags() const {
  RunFlags flags = {"--seed", std::to_string(seed_)};
  if (!engine_.empty()) flags.insert(flags.end(), {"--engine", engine_});
  if (!name_.empty()) flags.insert(flags.end(), {"--name", name_});
  if (!labels_.empty()) flags.insert(flags.end(), {"--labels", labels_});
  return flags;
}

Status GateCommand::ReadThresholds() {
  for (const std::string& text : thresholds_) {
    double percent = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, percent);
    if (parsed.ec == std::errc() && parsed.ptr == end && percent >= 0) {
      time_threshold_ = percent * kPercent;
      continue;
    }
    Result<Allowance> allowance = ParseAllowance(text);
    if (!allowance) return Error("--threshold: " + allowance.error().message() + " or PERCENT");
    allowances_.push_back(std::move(*allowance));
  }
  return Status::Ok();
}

Status GateCommand::CheckFiles() const {
  if (!junit_.empty()) {
    if (Status status = CheckWritable("--junit", junit_); !status) return status;
  }
  return markdown_.empty() ? Status::Ok() : CheckWritable("--markdown", markdown_);
}

Result<ExitCode> GateCommand::Run() {
  if (Status status = ReadThresholds(); !status) return status.error();
  if (Status status = CheckFiles(); !status) return status.error();
  const Result<Side> base_side = ResolveSide(base_, ShowStep);
  if (!base_side) return Error("--base " + base_side.error().message());
  const std::string next_name = next_.empty() ? OwnProgram() : next_;
  const Result<Side> next_side = ResolveSide(next_name, ShowStep);
  if (!next_side) return Error("--new " + next_side.error().message());
  const Result<TemporaryFolder> files = TemporaryFolder::Make();
  if (!files) return files.error();
  const Result<Results> base = BaseResults(*base_side, files->File("base"));
  if (Interrupted()) return ExitCode::kInterrupted;
  if (!base) return base.error();
  const Result<SideResults> next = ResultsOf(*next_side, Flags(), files->File("new"));
  if (Interrupted()) return ExitCode::kInterrupted;
  if (!next) return Error("--new " + next.error().message());

  Report report;
  if (!next->crash.empty()) {
    ReportCrash(next->crash, &report);
    return Finish(report);
  }
  if (HasTier("semantic")) {
    if (Status status = Semantic(*next_side, *base, next->results, &report); !status) {
      return status.error();
    }
  }
  if (HasTier("time")) {
    if (Status status = Time(*base, next->results, &report); !status) return status.error();
  }
  return Finish(report);
}

// A base that cannot run is never a pass.
Result<Results> GateCommand::BaseResults(const Side& side, const std::string& folder) const {
  Result<SideResults> made = ResultsOf(side, Flags(), folder);
  if (!made) return Error("--base " + made.error().message());
  if (!made->crash.empty()) return Error("--base " + base_ + " cannot run: " + made->crash);
  return std::move(made->results);
}

Status GateCommand::Semantic(const Side& next, const Results& base, const Results& results,
                             Report* report) const {
  for (const Results* side : {&base, &results}) {
    if (side->run) continue;
    return Error("--tier semantic: " + side->path +
                 " has no results.json, expected that of a virtual run");
  }
  const Result<CounterComparison> compared = CompareCounters(*base.run, *results.run, allowances_);
  if (!compared) return Error("--tier semantic: " + compared.error().message());
  const ReproduceCommand command = [&](const CounterChange& change) {
    return CommandOf(next, *results.run, change.workload, change.seed);
  };
  const bool passes = compared->failures.empty();
  report->passes = report->passes && passes;
  report->text += CountersText(*compared, command, kRowsShownMax, WantsColour(STDOUT_FILENO));
  report->text += fmt::format("semantic: {}\n", passes ? "pass" : "FAIL");
  report->markdown += CountersMarkdown(*compared, command);
  report->junit = CountersJunit(*compared, command);
  return Status::Ok();
}

Status GateCommand::Time(const Results& base, const Results& next, Report* report) const {
  for (const Results* side : {&base, &next}) {
    if (side->is_exact()) {
      return Error("--tier time: " + side->path +
                   " is of a virtual run, expected results of the real clock or scheduler_perf's");
    }
    for (const auto& [name, metric] : side->metrics) {
      if (metric.values.size() >= kRepetitionsMin) continue;
      return Error(fmt::format("--tier time: {}: {} has {} repetitions, expected at least {}",
                               side->path, name, metric.values.size(), kRepetitionsMin));
    }
  }
  ComparisonOptions options;
  options.threshold = time_threshold_;
  const Changes changes = CompareMetrics(base, next, options);
  if (changes.metrics.empty()) {
    return Error("--tier time: the results have no metric in common, expected some");
  }
  report->passes = report->passes && !changes.AnyWorse();
  report->text += ChangesTable(changes, false, WantsColour(STDOUT_FILENO));
  report->text += fmt::format("time: {}\n", changes.AnyWorse() ? "FAIL" : "pass");
  report->markdown += "### Time tier\n\n" + ChangesMarkdown(changes, false);
  if (report->junit.empty()) report->junit = ChangesJunit(changes);
  return Status::Ok();
}

void GateCommand::ReportCrash(const std::string& crash, Report* report) const {
  report->passes = false;
  report->text = "the new program ended with a bug: " + crash + "\n";
  report->markdown = "### The new program ended with a bug\n\n    " + crash + '\n';
  report->junit = JunitText({{"run", crash, ""}}, 0, "run");
}

Result<ExitCode> GateCommand::Finish(const Report& report) const {
  fmt::print("{}", report.text);
  if (!junit_.empty()) {
    if (Status status = WriteFileAtomically(junit_, report.junit); !status) return status.error();
  }
  if (!markdown_.empty()) {
    if (Status status = WriteFileAtomically(markdown_, report.markdown); !status) {
      return status.error();
    }
  }
  return report.passes ? ExitCode::kGood : ExitCode::kNo;
}

}  // namespace schedq
