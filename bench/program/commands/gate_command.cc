#include "bench/program/commands/gate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "bench/interrupt.h"
#include "bench/program/engine_flag.h"
#include "bench/program/flag_values.h"
#include "bench/program/output_file.h"
#include "perf/compare/changes.h"
#include "perf/compare/report.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "perf/statistics/comparison.h"
#include "perf/text/number_text.h"
#include "perf/text/terminal.h"
#include "perf/text/visible_text.h"
#include "schedq/engine_kind.h"

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
  app.add_option("--tier", tiers_, "What is judged, comma-separated")
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
  AddSeedFlag(&app, &seed_, "The seed of both runs");
  AddEngineFlag(&app, &engine_);
  app.add_flag("--wide", is_wide_, "All columns of the tables, however wide they become");
  app.add_option("--junit", junit_, "Write a JUnit report here")
      ->type_name("FILE")
      ->check(SomeName());
  app.add_option("--markdown", markdown_, "Write a report in Markdown here")
      ->type_name("FILE")
      ->check(SomeName());
}

bool GateCommand::HasTier(const std::string& tier) const {
  return std::find(tiers_.begin(), tiers_.end(), tier) != tiers_.end();
}

RunFlags GateCommand::Flags(const std::string& engine) const {
  RunFlags flags = {"--seed", std::to_string(seed_), "--engine", engine};
  if (!name_.empty()) flags.insert(flags.end(), {"--name", name_});
  if (!labels_.empty()) flags.insert(flags.end(), {"--labels", labels_});
  return flags;
}

Status GateCommand::ReadThresholds() {
  for (const std::string& text : thresholds_) {
    const std::optional<double> percent = ParseFiniteNumber(text);
    const char* const tier = percent ? "time" : "semantic";
    if (percent && *percent >= 0) {
      time_threshold_ = *percent * kPercent;
    } else {
      Result<Allowance> allowance = ParseAllowance(text);
      if (!allowance) return Error("--threshold: " + allowance.error().message() + " or PERCENT");
      allowances_.push_back(std::move(*allowance));
    }
    if (HasTier(tier)) continue;
    return Error(
        fmt::format("--threshold {}: is for the tier {}, expected --tier {}", text, tier, tier));
  }
  return Status::Ok();
}

Result<ExitCode> GateCommand::Run() {
  if (Status status = ReadThresholds(); !status) return status.error();
  const std::string next_path = next_.empty() ? OwnProgram() : next_;
  if (Status status = CheckFiles({{"--junit", junit_}, {"--markdown", markdown_}},
                                 {{"--base", base_}, {"--new", next_path}});
      !status) {
    return status.error();
  }
  const Result<std::vector<EngineKind>> engines = ParseEngines(engine_);
  if (!engines) return engines.error();
  // What fails because a signal ended it is no error of the input.
  const auto refuse = [](const std::string& flag, const Error& error) {
    return Interrupted() ? Result<ExitCode>(ExitCode::kInterrupted) : Error(flag + error.message());
  };
  const Result<Side> base = ResolveSide(base_, ShowStep);
  if (!base) return refuse("--base ", base.error());
  const Result<Side> next = ResolveSide(next_path, ShowStep);
  if (!next) return refuse("--new ", next.error());
  const bool reads_both = !base->folder.empty() && !next->folder.empty();
  if (reads_both && (!name_.empty() || !labels_.empty())) {
    return Error("--name and --labels: choose what is run, expected neither with two folders");
  }
  const Result<TemporaryFolder> files = TemporaryFolder::Make();
  if (!files) return files.error();
  Report report;
  // A folder was made by one engine, and is compared as it is.
  const bool runs_both = base->folder.empty() && next->folder.empty();
  for (const EngineKind engine : *engines) {
    const std::string name(EngineName(engine));
    const std::string folder = files->File(name);
    report.engine = runs_both && engines->size() > 1 ? name : "";
    if (!report.engine.empty()) {
      report.text += "engine " + name + ":\n";
      report.markdown += "## Engine " + name + "\n\n";
    }
    Report judged = report;
    const Status status = JudgeEngine(*base, *next, name, folder, &judged);
    if (Interrupted()) {
      // What was judged before is shown; a report in a file would pass for a whole one.
      if (!report.reasons.empty() || !report.junit.empty()) fmt::print("{}", report.text);
      return ExitCode::kInterrupted;
    }
    if (!status) return status.error();
    report = std::move(judged);
    if (!runs_both) break;
  }
  return Finish(report);
}

Status GateCommand::JudgeEngine(const Side& base_side, const Side& next_side,
                                const std::string& engine, const std::string& folder,
                                Report* report) const {
  const Result<Results> base = BaseResults(base_side, Flags(engine), folder + "/base");
  if (!base) return base.error();
  // Against a folder, with the engine that made it.
  const bool has_engine = base->run && !base->run->engine.empty();
  const RunFlags flags = Flags(has_engine ? base->run->engine : engine);
  const Result<SideResults> next = ResultsOf(next_side, flags, folder + "/new");
  if (!next) return Error("--new " + next.error().message());
  if (!next->crash.empty()) {
    ReportCrash(next->crash, report);
    return Status::Ok();
  }
  if (HasTier("semantic")) {
    if (Status status = Semantic(next_side, *base, next->results, report); !status) return status;
  }
  return HasTier("time") ? Time(*base, next->results, report) : Status::Ok();
}

// A base that cannot run is never a pass.
Result<Results> GateCommand::BaseResults(const Side& side, const RunFlags& flags,
                                         const std::string& folder) const {
  Result<SideResults> made = ResultsOf(side, flags, folder);
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
  report->text += fmt::format("semantic: {}\n", passes ? "pass" : "FAIL");
  report->text += CountersText(*compared, command, kRowsShownMax, WantsColour(STDOUT_FILENO));
  report->markdown += CountersMarkdown(*compared, command);
  AddJunit(CountersJunit(*compared, command), report);
  if (!passes) report->Fail("the semantic tier fails: counters differ beyond their allowance");
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
  // A metric that is gone may be the one that is worse.
  const bool passes = !changes.AnyWorse() && changes.only_base.empty();
  report->text += fmt::format("time: {}\n", passes ? "pass" : "FAIL");
  report->text += ChangesTable(changes, false, LayoutOf(STDOUT_FILENO, is_wide_));
  report->markdown += "### Time tier\n\n" + ChangesMarkdown(changes, false);
  AddJunit(ChangesJunit(changes), report);
  if (changes.AnyWorse()) report->Fail("the time tier fails: a metric is worse");
  if (!changes.only_base.empty()) {
    report->Fail("the time tier fails: the new results lack " + changes.only_base.front());
  }
  return Status::Ok();
}

void GateCommand::ReportCrash(const std::string& crash, Report* report) const {
  const std::string said = VisibleText(crash);
  report->text += "the new program ended with a bug: " + said + "\n";
  report->markdown += "### The new program ended with a bug\n\n    " + said + '\n';
  AddJunit({"run", {{"run", crash, ""}}, 0}, report);
  report->Fail("the new program ended with a bug");
}

// Of two engines each has suites of its own.
void GateCommand::AddJunit(JunitSuite suite, Report* report) const {
  if (!report->engine.empty()) suite.name = report->engine + "." + suite.name;
  report->junit.push_back(std::move(suite));
}

Result<ExitCode> GateCommand::Finish(const Report& report) const {
  fmt::print("{}", report.text);
  std::fflush(stdout);
  for (const std::string& reason : report.reasons) {
    fmt::print(stderr, "schedq gate: {}\n", VisibleText(reason));
  }
  const Status junit =
      junit_.empty() ? Status::Ok() : WriteFileAtomically(junit_, JunitText(report.junit));
  const Status markdown =
      markdown_.empty() ? Status::Ok() : WriteFileAtomically(markdown_, report.markdown);
  for (const Status& status : {junit, markdown}) {
    if (!status) return status.error();
  }
  return report.reasons.empty() ? ExitCode::kGood : ExitCode::kNo;
}

}  // namespace schedq
