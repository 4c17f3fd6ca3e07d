#include "bench/program/commands/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bench/format/suite/builtin_suite.h"
#include "bench/format/suite/needs.h"
#include "bench/interrupt.h"
#include "bench/kep/experiments/experiments.h"
#include "bench/kep/scenario/scenario.h"
#include "bench/lab/paths/memory_use.h"
#include "bench/program/command_line.h"
#include "bench/program/engine_flag.h"
#include "bench/program/flag_values.h"
#include "bench/program/reports/run_verdict.h"
#include "bench/sim/measure/thresholds.h"
#include "bench/sim/queue/trace_recorder.h"
#include "bench/sim/run/run_workload.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/names/name_key.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "perf/documents/document.h"
#include "perf/documents/environment.h"
#include "perf/files/file_io.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(10, [] { return std::make_unique<RunCommand>(); });

constexpr uint64_t kRepeatMax = 1000;
constexpr int64_t kPodsWeighed = 10'000;

std::map<std::string, bool> GateMap(const Gates& gates) {
  std::map<std::string, bool> map;
  for (int i = 0; i < kGateCount; ++i) {
    const auto gate = static_cast<Gate>(i);
    map[std::string(GateName(gate))] = gates.On(gate);
  }
  return map;
}

// A queued pod takes the same in every workload, so the engine is weighed once, with pods that use
// a claim each. Nothing without jemalloc.
void AddMemoryCosts(EngineKind engine, std::vector<RepetitionCost>* costs) {
  if (costs->empty() || Interrupted()) return;
  const std::optional<double> bytes = MeasureBytesPerPod(engine, kPodsWeighed);
  const std::optional<double> allocations = MeasureAllocationsPerOperation(engine, kPodsWeighed);
  for (RepetitionCost& cost : *costs) {
    cost.bytes_per_pod = bytes;
    cost.allocations_per_operation = allocations;
  }
}

}  // namespace

CommandText RunCommand::Text() const {
  CommandText text;
  text.name = "run";
  text.purpose = "Run workloads and report what was measured";
  text.examples = {
      {"schedq run --labels short", "The built-in suite's small workloads", true},
      {"schedq run FILE.yaml", "scheduler_perf's files, unmodified", true},
      {"schedq run --suite kep --labels short", "What four Kubernetes proposals promise", true},
      {"schedq run --engine both --out results",
       "The whole built-in suite on both engines, with documents for `schedq compare`"},
      {"schedq run --name '^Gated/20' --record run.jsonl", "A trace for `schedq replay`"}};
  text.no =
      "a threshold missed, a workload failed, a promise broken, engines that differ, or "
      "nothing measured; stderr says which";
  text.notes =
      "Equal seeds give equal bytes on the virtual clock, on either engine. Thresholds\n"
      "of files were set for real clusters: they are shown, and decide the exit code\n"
      "with --check-thresholds.";
  return text;
}

void RunCommand::Declare(CLI::App& app) {
  app.add_option("FILE", request_.paths, "Workload files; none: the built-in suite")
      ->type_name("FILE.yaml...");
  app.add_option("--suite", request_.suite, "Without files: the built-in suite")
      ->type_name("builtin|kep")
      ->check(CLI::IsMember({kDefaultSuite, kKepSuite}));
  app.add_option("--name", request_.name,
                 "Only workloads whose case/workload this regular expression finds")
      ->type_name("REGEX");
  app.add_option("--labels", request_.labels, "Only workloads with label a and without b: a,-b")
      ->type_name("a,+b,-c");
  app.add_option("--gate", request_.gates, "A feature gate; it goes before those of the files")
      ->type_name("NAME=true|false")
      ->expected(1)
      ->take_all();
  app.add_option("--status-model", request_.status_model,
                 "How KEP-5501 reports rejections, with its gate on: implicit-delayed by default")
      ->type_name("NAME");
  app.add_option("--plugin", request_.plugins, "Out-of-tree plugins of a shared library")
      ->type_name("FILE.so");
  AddEngineFlag(&app, &request_.engine);
  app.add_option("--clock", request_.clock, "The clock")
      ->capture_default_str()
      ->check(CLI::IsMember({"virtual"}));
  app.add_option("--costs", request_.costs, "The cost model: a file, or upstream")
      ->capture_default_str()
      ->type_name("FILE|upstream");
  AddSeedFlag(&app, &request_.seed, "The seed; repetition i has seed + i");
  app.add_option("--repeat", request_.repeat, "Repetitions of each workload, 1 to 1000")
      ->capture_default_str()
      ->type_name("N")
      ->check(WholeNumber(1, kRepeatMax));
  app.add_option("--out", request_.out,
                 "Write results.json, DataItems, benchstat and metrics here; a folder an engine "
                 "with --engine both")
      ->type_name("DIR")
      ->check(SomeName());
  app.add_option("--format", request_.format, "What goes to stdout")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json", "benchstat"}));
  app.add_flag("--wide", request_.wide, "All columns of the tables, however wide they become");
  app.add_flag("--check-thresholds", request_.check_thresholds,
               "Thresholds of files decide the exit code, as those of the built-in suite do");
  app.add_flag("--require-all", request_.require_all, "A workload that is skipped is an error");
  app.add_option("--record", request_.record,
                 "Write a trace of the run, which must be one workload's")
      ->type_name("FILE")
      ->check(SomeName());
}

Result<ExitCode> RunCommand::Run() {
  NameKey::FixForProcess(request_.seed);
  const Result<RunPlan> plan = MakeRunPlan(request_);
  if (!plan) return plan.error();
  std::vector<RunReport> reports;
  {
    ProgressLine line(Weights(*plan));
    for (const EngineKind engine : plan->engines) {
      if (Interrupted() && !reports.empty()) break;
      Result<RunReport> report = RunAll(*plan, engine, &line);
      if (!report) return report.error();
      reports.push_back(std::move(*report));
    }
  }
  if (Status status = WriteFiles(reports); !status) return status.error();
  if (Status status = Print(reports); !status) return status.error();
  bool is_good = true;
  for (const RunReport& report : reports) {
    if (report.input_error) return *report.input_error;
    for (const std::string& reason : RunFailures(report.document, plan->judges_thresholds)) {
      fmt::print(stderr, "schedq run: {}\n", reason);
      is_good = false;
    }
  }
  for (const std::string& difference : EngineDifferences(reports)) {
    fmt::print(stderr, "schedq run: {}\n", difference);
    is_good = false;
  }
  return is_good ? ExitCode::kGood : ExitCode::kNo;
}

std::vector<double> RunCommand::Weights(const RunPlan& plan) const {
  std::vector<double> once;
  for (const double weight : WorkloadWeights(plan.cases)) {
    once.insert(once.end(), request_.repeat, weight);
  }
  constexpr double kScenarioWeight = 1000;
  once.insert(once.end(), plan.scenarios.size(), kScenarioWeight);
  std::vector<double> all;
  for (size_t i = 0; i < plan.engines.size(); ++i) all.insert(all.end(), once.begin(), once.end());
  return all;
}

Result<RunReport> RunCommand::RunAll(const RunPlan& plan, EngineKind engine,
                                     ProgressLine* line) const {
  const EnvironmentRecorder recorder(CommandLineText());
  RunReport report;
  RunDocument& document = report.document;
  document.engine = std::string(EngineName(engine));
  document.seed = request_.seed;
  document.cost_model = plan.costs.name;
  document.gates = GateMap(*Gates::Resolve(plan.gates));
  document.status_model = std::string(StatusModelName(plan.status_model));
  for (const TestCase& test_case : plan.cases) {
    for (const Workload& workload : test_case.workloads) {
      if (Interrupted()) break;
      Result<WorkloadResult> result = RunOne(plan, engine, test_case, workload, &report, line);
      if (!result) return result.error();
      document.workloads.push_back(std::move(*result));
    }
  }
  PlayScenariosOf(plan, engine, &document, line);
  AddMemoryCosts(engine, &document.environment.costs);
  static_cast<Environment&>(document.environment) = recorder.Finish();
  return report;
}

Status RunCommand::WriteFiles(const std::vector<RunReport>& reports) const {
  if (request_.out.empty()) return Status::Ok();
  for (const RunReport& report : reports) {
    const std::string folder =
        reports.size() == 1 ? request_.out : request_.out + "/" + report.document.engine;
    if (Status status = WriteRunFiles(report, folder); !status) return status;
  }
  return Status::Ok();
}

// With two engines the tables are those of the first: the figures of the second are the same, or
// the run fails.
Status RunCommand::Print(const std::vector<RunReport>& reports) const {
  const RunDocument& document = reports.front().document;
  if (request_.format == "json") {
    const Result<std::string> text = DocumentText(document);
    if (!text) return text.error();
    fmt::print("{}", *text);
  } else if (request_.format == "benchstat") {
    fmt::print("{}", RunBenchstat(document));
  } else {
    fmt::print("{}", RunText(reports, LayoutOf(STDOUT_FILENO, request_.wide)));
  }
  std::fflush(stdout);
  return Status::Ok();
}

void RunCommand::PlayScenariosOf(const RunPlan& plan, EngineKind engine, RunDocument* document,
                                 ProgressLine* line) const {
  if (request_.suite != kKepSuite) return;
  document->verdicts = JudgeExperiments(*document);
  PlayScenarios(plan.scenarios, {.seed = request_.seed, .engine = engine},
                {[line](const std::string& name) { line->Next(name); }, Interrupted},
                &document->scenarios, &document->verdicts);
}

Result<WorkloadResult> RunCommand::RunOne(const RunPlan& plan, EngineKind engine,
                                          const TestCase& test_case, const Workload& workload,
                                          RunReport* report, ProgressLine* line) const {
  RunOptions options;
  options.engine = engine;
  options.costs = &plan.costs;
  options.gates = *Gates::Resolve(MergeGates(plan.gates, workload.gates));
  options.status_model = plan.status_model;
  options.further_plugins = plan.further_plugins;
  options.interrupted = Interrupted;
  WorkloadResult result;
  result.test_case = test_case.name;
  result.workload = workload.name;
  result.definition = test_case.definition;
  result.labels = workload.labels;
  result.gates = GateMap(options.gates);
  result.not_modelled = plan.gates_not_modelled;
  for (const Need& need : NeedsOf(workload)) {
    if (!need.blocks) result.not_modelled.push_back(need.text);
  }
  const std::string name = test_case.name + "/" + workload.name;
  report->topics[name] = TopicOf(test_case.file);
  if (!CanRun(workload)) {
    for (uint64_t i = 0; i < request_.repeat; ++i) line->Next(name);
    result.outcome = WorkloadOutcome::kSkipped;
    result.reason = BlockingNeeds(workload);
    const std::string* defect = DefectOf(workload);
    if (defect != nullptr && !report->input_error) report->input_error = Error(*defect);
    return result;
  }
  if (const auto arm = plan.arms.find(name); arm != plan.arms.end()) {
    options.alternatives = arm->second.alternatives;
  }
  if (Status status = Repeat(test_case, workload, options, &result, report, line); !status) {
    return status.error();
  }
  if (result.outcome != WorkloadOutcome::kMeasured) return result;
  const auto threshold =
      JudgeThreshold(test_case, workload, result.repetitions, plan.judges_thresholds);
  if (!threshold) {
    if (!report->input_error) report->input_error = threshold.error();
  } else if (*threshold) {
    result.thresholds.push_back(**threshold);
  }
  return result;
}

Status RunCommand::Repeat(const TestCase& test_case, const Workload& workload, RunOptions options,
                          WorkloadResult* result, RunReport* report, ProgressLine* line) const {
  const std::string name = test_case.name + "/" + workload.name;
  for (uint64_t i = 0; i < request_.repeat; ++i) {
    line->Next(request_.repeat == 1
                   ? name
                   : fmt::format("{}, repetition {} of {}", name, i + 1, request_.repeat));
    if (result->outcome != WorkloadOutcome::kMeasured) continue;
    std::string trace;
    TraceRecorder recorder([&trace](const std::string& text) { trace += text + '\n'; });
    options.seed = request_.seed + i;
    options.recorder = request_.record.empty() ? nullptr : &recorder;
    options.progress = [line](Duration elapsed) {
      line->Show(
          fmt::format("{:.1f} s of virtual time", std::chrono::duration<double>(elapsed).count()));
    };
    const auto started = std::chrono::steady_clock::now();
    Result<RunOutcome> outcome = RunWorkload(test_case, workload, options);
    if (!outcome) return outcome.error();
    RepetitionCost cost;
    cost.test_case = test_case.name;
    cost.workload = workload.name;
    cost.repetition = i;
    cost.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    report->document.environment.costs.push_back(std::move(cost));
    report->virtual_seconds += outcome->repetition.seconds;
    report->metrics_text[name] = std::move(outcome->metrics_text);
    result->outcome = outcome->outcome;
    result->reason = std::move(outcome->reason);
    result->repetitions.push_back(std::move(outcome->repetition));
    if (!request_.record.empty()) {
      if (Status status = WriteFileAtomically(request_.record, trace); !status) return status;
    }
  }
  return Status::Ok();
}

}  // namespace schedq
