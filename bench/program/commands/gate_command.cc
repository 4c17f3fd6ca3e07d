#include "bench/program/commands/gate_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "bench/interrupt.h"
#include "bench/program/engine_flag.h"
#include "bench/program/flag_values.h"
#include "bench/program/gate/commit_build.h"
#include "bench/program/gate/duet.h"
#include "bench/program/gate/instruction_tier.h"
#include "bench/program/gate/semantic_tier.h"
#include "bench/program/gate/time_tier.h"
#include "bench/program/gate/workload_choice.h"
#include "bench/program/output_file.h"
#include "engine/base/time/time.h"
#include "perf/compare/junit.h"
#include "perf/documents/history.h"
#include "perf/files/file_io.h"
#include "perf/files/temporary_folder.h"
#include "perf/text/number_text.h"
#include "perf/text/pattern.h"
#include "perf/text/rfc3339.h"
#include "perf/text/table.h"
#include "perf/text/terminal.h"
#include "perf/text/visible_text.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(80, [] { return std::make_unique<GateCommand>(); });

constexpr const char* kSemantic = "semantic";
constexpr const char* kInstructions = "instructions";
constexpr const char* kTime = "time";
constexpr double kPercent = 0.01;
constexpr uint64_t kPairsMax = 1000;
// Takes a second on the real clock.
constexpr const char* kTimedByDefault = "^Basic/500Nodes_2000Pods$";

void ShowStep(const std::string& step) { fmt::print(stderr, "schedq gate: {}\n", step); }

void ReportCrash(const std::string& crash, GateReport* report) {
  const std::string said = VisibleText(crash);
  report->text += "the new program ended with a bug: " + said + "\n";
  report->markdown += "### The new program ended with a bug\n\n    " + said + '\n';
  report->AddJunit({"run", {{"run", 0, JunitOutcome::kFailed, crash, ""}}});
  report->Fail("the new program ended with a bug");
}

}  // namespace

CommandText GateCommand::Text() const {
  CommandText text;
  text.name = "gate";
  text.purpose = "Pass or fail: compare what two builds do, or two folders of results";
  text.examples = {{"schedq gate --base HEAD~1", "Did counters change since then?", true},
                   {"schedq gate FILE.yaml --base before/schedq",
                    "Your own workloads, on this program and on another build"},
                   {"schedq gate --base before/ --new after/ --tier time --strict",
                    "Judge measured times; exit code 4 where the runs are too few to tell"},
                   {"schedq gate --base main --threshold 'attempts=2' --junit gate.xml",
                    "Let counters named attempts change by 2 %, and write a report for CI"}};
  text.no = "a tier fails, or the new program ended with a bug";
  text.doubt = "with --strict: no tier fails, but one cannot tell";
  return text;
}

void GateCommand::Declare(CLI::App& app) {
  app.add_option("FILE", paths_, "Workload files; none: the built-in suite")
      ->type_name("FILE.yaml...");
  app.add_option("--base", base_, "Before: a folder of results, a schedq program or a commit")
      ->required()
      ->type_name("REF|BINARY|DIR");
  app.add_option("--new", next_, "After; none: this program")->type_name("REF|BINARY|DIR");
  app.add_option("--tier", tiers_, "What is judged, comma-separated: semantic, instructions, time")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::IsMember({kSemantic, kInstructions, kTime}));
  app.add_option("--threshold", thresholds_,
                 "semantic: counters that may change by so much; time: the change that matters")
      ->type_name("REGEX=PERCENT|PERCENT")
      ->expected(1)
      ->take_all();
  app.add_option("--instruction-threshold", instruction_threshold_percent_,
                 "instructions: so many more fail")
      ->capture_default_str()
      ->check(FiniteNumber())
      ->type_name("PERCENT");
  app.add_option("--metric", metric_,
                 "time: also judge metrics whose name this finds, beside throughput and what "
                 "thresholds select")
      ->type_name("REGEX");
  app.add_flag("--strict", is_strict_, "Exit code 4 where a tier cannot tell");
  DeclareRuns(app);
  app.add_flag("--all", all_, "time: show the metrics that are not tested, too");
  app.add_flag("--wide", is_wide_, "All columns of the tables, however wide they become");
  app.add_flag("--annotate", annotates_, "Print what fails as annotations of a GitHub workflow");
  app.add_option("--store", store_,
                 "Add the new side's figures to this folder, for `schedq history`")
      ->type_name("DIR")
      ->check(SomeName());
  app.add_option("--junit", junit_, "Write a JUnit report here")
      ->type_name("FILE")
      ->check(SomeName());
  app.add_option("--markdown", markdown_, "Write a report in Markdown here")
      ->type_name("FILE")
      ->check(SomeName());
}

void GateCommand::DeclareRuns(CLI::App& app) {
  app.add_option("--suite", suite_, "Without files: the built-in suite")
      ->type_name("builtin|kep|storms")
      ->check(CLI::IsMember({"builtin", "kep", "storms"}));
  app.add_option("--gate", gates_, "A feature gate of both runs")
      ->type_name("NAME=true|false")
      ->expected(1)
      ->take_all();
  app.add_option("--name", name_, "Only workloads whose case/workload this finds")
      ->type_name("REGEX");
  app.add_option("--labels", labels_, "Only workloads with label a and without b: a,-b")
      ->type_name("a,+b,-c");
  app.add_option("--bench", bench_, "time: micro-benchmarks whose name this finds, too")
      ->type_name("REGEX");
  app.add_option("--pairs", pairs_, "time: pairs of rounds that two programs play")
      ->capture_default_str()
      ->type_name("N")
      ->check(WholeNumber(1, kPairsMax));
  app.add_flag("--sequential", is_sequential_,
               "time: one program after the other, each with all processors");
  AddSeedFlag(&app, &seed_, "The seed of both runs");
  AddEngineFlag(&app, &engine_);
}

bool GateCommand::HasTier(const std::string& tier) const {
  return std::find(tiers_.begin(), tiers_.end(), tier) != tiers_.end();
}

RunFlags GateCommand::Flags(const std::string& engine) const {
  RunFlags flags;
  flags.inputs = paths_;
  if (!suite_.empty()) flags.inputs.push_back("--suite=" + suite_);
  for (const std::string& gate : gates_) flags.inputs.push_back("--gate=" + gate);
  flags.name = name_;
  flags.labels = labels_;
  flags.seed = seed_;
  flags.engine = engine;
  return flags;
}

Status GateCommand::ReadThresholds() {
  for (const std::string& text : thresholds_) {
    const std::optional<double> percent = ParseFiniteNumber(text);
    const char* const tier = percent ? kTime : kSemantic;
    if (percent && *percent >= 0) {
      time_.options.threshold = *percent * kPercent;
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

Status GateCommand::ReadFlags() {
  if (Status status = ReadThresholds(); !status) return status;
  if (!HasTier(kTime)) {
    const std::vector<std::pair<const char*, bool>> flags = {{"--metric", !metric_.empty()},
                                                             {"--bench", !bench_.empty()},
                                                             {"--sequential", is_sequential_}};
    for (const auto& [flag, is_given] : flags) {
      if (is_given)
        return Error(std::string(flag) + ": is for the tier time, expected --tier time");
    }
  }
  if (metric_.empty()) return Status::Ok();
  Result<Pattern> asked_for = Pattern::Parse(metric_);
  if (!asked_for) return Error("--metric: " + asked_for.error().message());
  time_.asked_for = std::move(*asked_for);
  return Status::Ok();
}

Result<ExitCode> GateCommand::Run() {
  if (Status status = ReadFlags(); !status) return status.error();
  const std::string next_path = next_.empty() ? OwnProgram() : next_;
  const Status files = CheckFiles({{"--junit", junit_}, {"--markdown", markdown_}},
                                  {{"--base", base_}, {"--new", next_path}});
  const Status folder = store_.empty() ? Status::Ok() : CheckFolder({"--store", store_});
  for (const Status& status : {files, folder}) {
    if (!status) return status.error();
  }
  // What fails because a signal ended it is no error of the input.
  const auto refuse = [](const std::string& flag, const Error& error) {
    return Interrupted() ? Result<ExitCode>(ExitCode::kInterrupted) : Error(flag + error.message());
  };
  // Counters do not depend on how a program was built; costs do.
  const bool has_costs = HasTier(kInstructions) || HasTier(kTime);
  const std::string preset = has_costs ? OwnPreset() : kQuickPreset;
  const Result<Side> base = ResolveSide(base_, preset, ShowStep);
  if (!base) return refuse("--base ", base.error());
  const Result<Side> next = ResolveSide(next_path, preset, ShowStep);
  if (!next) return refuse("--new ", next.error());
  if (Status status = CheckSides(*base, *next); !status) return status.error();
  return Judge(*base, *next);
}

Status GateCommand::CheckSides(const Side& base, const Side& next) const {
  const bool reads_both = !base.folder.empty() && !next.folder.empty();
  const bool runs_both = base.folder.empty() && next.folder.empty();
  if (reads_both && (ChoosesWorkloads(Flags("")) || !Flags("").inputs.empty())) {
    return Error(
        "FILE, --suite, --gate, --name and --labels: choose what is run, expected none with two "
        "folders");
  }
  if (HasTier(kInstructions) && !runs_both) {
    return Error("--tier instructions: expected programs or commits, which it runs itself");
  }
  if (HasTier(kTime) && !runs_both && !reads_both) {
    return Error("--tier time: expected two programs, which run side by side, or two folders");
  }
  return Status::Ok();
}

Result<ExitCode> GateCommand::Judge(const Side& base, const Side& next) {
  const Result<TemporaryFolder> files = TemporaryFolder::Make();
  if (!files) return files.error();
  GateReport report;
  Status status = JudgeResults(base, next, files->path(), &report);
  if (status && !Interrupted()) {
    GateReport judged = report;
    status = JudgeCosts(base, next, &judged);
    if (status && !Interrupted()) report = std::move(judged);
  }
  if (Interrupted()) {
    // What was judged before is shown; a report in a file would pass for a whole one.
    if (!report.IsEmpty()) fmt::print("{}", report.text);
    return ExitCode::kInterrupted;
  }
  if (!status) return status.error();
  return Finish(next, report);
}

Status GateCommand::JudgeResults(const Side& base, const Side& next, const std::string& folder,
                                 GateReport* report) const {
  const bool runs_both = base.folder.empty() && next.folder.empty();
  if (runs_both && !HasTier(kSemantic)) return Status::Ok();
  const Result<std::vector<EngineKind>> engines = ParseEngines(engine_);
  if (!engines) return engines.error();
  for (const EngineKind engine : *engines) {
    const std::string name(EngineName(engine));
    GateReport judged = *report;
    judged.engine = runs_both && engines->size() > 1 ? name : "";
    if (!judged.engine.empty()) {
      judged.text += "engine " + name + ":\n";
      judged.markdown += "## Engine " + name + "\n\n";
    }
    Status status = JudgeEngine(base, next, name, folder + '/' + name, &judged);
    if (!status) return status;
    if (Interrupted()) return Status::Ok();
    *report = std::move(judged);
    report->engine = "";
    // A folder was made by one engine, and is compared as it is.
    if (!runs_both) break;
  }
  return Status::Ok();
}

Status GateCommand::JudgeCosts(const Side& base, const Side& next, GateReport* report) const {
  if (base.program.empty() || next.program.empty()) return Status::Ok();
  const Result<std::vector<EngineKind>> engines = ParseEngines(engine_);
  if (!engines) return engines.error();
  const TableLayout layout = LayoutOf(STDOUT_FILENO, is_wide_);
  if (HasTier(kInstructions)) {
    InstructionTierOptions options;
    options.threshold = instruction_threshold_percent_ * kPercent;
    options.flags = Flags("");
    options.has_files = !paths_.empty();
    for (const EngineKind engine : *engines) options.engines.emplace_back(EngineName(engine));
    options.layout = layout;
    Status status = JudgeInstructions(base, next, options, ShowStep, report);
    if (!status) return status;
  }
  if (!HasTier(kTime)) return Status::Ok();
  DuetOptions duet;
  duet.pairs = pairs_;
  duet.is_sequential = is_sequential_;
  duet.bench = bench_;
  // What is measured is the product's own engine unless another was named.
  duet.flags = Flags(std::string(EngineName(engines->front())));
  RunFlags chosen = duet.flags;
  if (!ChoosesWorkloads(chosen) && bench_.empty()) chosen.name = kTimedByDefault;
  if (ChoosesWorkloads(chosen)) {
    Result<std::vector<std::string>> workloads = WorkloadsOf(chosen);
    if (!workloads) return workloads.error();
    duet.workloads = std::move(*workloads);
  }
  if (duet.workloads.empty() && bench_.empty()) {
    return Error("--tier time: no workload is chosen that can run, expected another choice");
  }
  return JudgeDuet(base, next, duet, {time_, is_strict_, all_, layout}, ShowStep, report);
}

Status GateCommand::JudgeEngine(const Side& base_side, const Side& next_side,
                                const std::string& engine, const std::string& folder,
                                GateReport* report) const {
  RunFlags flags = Flags(engine);
  const Result<Results> base = BaseResults(base_side, flags, folder + "/base");
  if (!base) return base.error();
  // Against a folder, with the engine that made it.
  if (base->run && !base->run->engine.empty()) flags.engine = base->run->engine;
  const Result<SideResults> next = ResultsOf(next_side, flags, folder + "/new");
  if (!next) return Error("--new " + next.error().message());
  if (!next->crash.empty()) {
    ReportCrash(next->crash, report);
    return Status::Ok();
  }
  if (HasTier(kSemantic)) {
    SemanticTierOptions options;
    options.allowances = allowances_;
    options.folder = folder;
    options.colour = WantsColour(STDOUT_FILENO);
    Status status = JudgeSemantic({&base_side, &*base, flags}, {&next_side, &next->results, flags},
                                  options, report);
    if (!status) return status;
  }
  const bool runs_both = !base_side.program.empty() && !next_side.program.empty();
  if (!HasTier(kTime) || runs_both) return Status::Ok();
  return JudgeTime(*base, next->results,
                   {time_, is_strict_, all_, LayoutOf(STDOUT_FILENO, is_wide_)}, report);
}

// A base that cannot run is never a pass.
Result<Results> GateCommand::BaseResults(const Side& side, const RunFlags& flags,
                                         const std::string& folder) const {
  Result<SideResults> made = ResultsOf(side, flags, folder);
  if (!made) return Error("--base " + made.error().message());
  if (!made->crash.empty()) return Error("--base " + base_ + " cannot run: " + made->crash);
  return std::move(made->results);
}

Status GateCommand::Store(const Side& next, const GateReport& report) const {
  HistoryRun run;
  run.time = Rfc3339(TruncateToSecond(std::chrono::system_clock::now()));
  run.commit = CommitOf(next);
  run.series = report.series;
  if (run.series.empty()) return Status::Ok();
  return AppendToHistory(store_, {run});
}

Result<ExitCode> GateCommand::Finish(const Side& next, const GateReport& report) const {
  fmt::print("{}", report.text);
  if (annotates_) fmt::print("{}", report.annotations);
  std::fflush(stdout);
  for (const std::vector<std::string>* lines : {&report.reasons, &report.doubts}) {
    for (const std::string& line : *lines) {
      fmt::print(stderr, "schedq gate: {}\n", VisibleText(line));
    }
  }
  const Status junit =
      junit_.empty() ? Status::Ok() : WriteFileAtomically(junit_, JunitText(report.junit));
  const Status markdown =
      markdown_.empty() ? Status::Ok() : WriteFileAtomically(markdown_, report.markdown);
  const Status stored = store_.empty() ? Status::Ok() : Store(next, report);
  for (const Status& status : {junit, markdown, stored}) {
    if (!status) return status.error();
  }
  if (!report.reasons.empty()) return ExitCode::kNo;
  return is_strict_ && !report.doubts.empty() ? ExitCode::kCannotTell : ExitCode::kGood;
}

}  // namespace schedq
