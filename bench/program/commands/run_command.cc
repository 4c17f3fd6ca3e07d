#include "bench/program/commands/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "bench/format/suite/builtin_suite.h"
#include "bench/format/suite/needs.h"
#include "bench/format/suite/selection.h"
#include "bench/interrupt.h"
#include "bench/lab/paths/memory_use.h"
#include "bench/program/command_line.h"
#include "bench/program/output_file.h"
#include "bench/program/progress_line.h"
#include "bench/program/usage_error.h"
#include "bench/sim/measure/thresholds.h"
#include "bench/sim/run/run_workload.h"
#include "perf/documents/document.h"
#include "perf/files/file_io.h"
#include "perf/text/table.h"

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

// The command line goes before the workload's file.
GateRequest Merge(const GateRequest& command_line, const GateRequest& workload) {
  GateRequest merged = workload;
  for (int i = 0; i < kGateCount; ++i) {
    const auto gate = static_cast<Gate>(i);
    if (const auto wanted = command_line.Get(gate)) merged.Set(gate, *wanted);
  }
  return merged;
}

std::string BlockingNeeds(const Workload& workload) {
  std::string text;
  for (const Need& need : NeedsOf(workload)) {
    if (need.blocks) text += (text.empty() ? "needs " : ", ") + need.text;
  }
  return text;
}

// The first defect, when no workload is without one; null: something can be run.
const std::string* OnlyDefects(const std::vector<TestCase>& cases) {
  const std::string* first = nullptr;
  for (const TestCase& test_case : cases) {
    for (const Workload& workload : test_case.workloads) {
      const std::string* defect = DefectOf(workload);
      if (defect == nullptr) return nullptr;
      if (first == nullptr) first = defect;
    }
  }
  return first;
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

std::string RunCommand::Summary() const { return "Run workloads and report what was measured"; }

void RunCommand::Declare(CLI::App& app) {
  app.add_option("FILE", paths_, "Workload files; none: the built-in suite")
      ->type_name("FILE.yaml...");
  app.add_option("--suite", suite_, "Without files: the built-in suite, builtin or kep")
      ->check(CLI::IsMember({kDefaultSuite, kKepSuite}));
  app.add_option("--name", name_,
                 "Only workloads whose case/workload this regular expression finds")
      ->type_name("REGEX");
  app.add_option("--labels", labels_, "Only workloads with label a and without b: a,-b")
      ->type_name("a,+b,-c");
  app.add_option("--gate", gates_, "A feature gate, before those of the files")
      ->type_name("NAME=true|false")
      ->expected(1)
      ->take_all();
  app.add_option("--status-model", status_model_,
                 "KEP-5501's model, with gate SchedulerPreEnqueuePodStatus (implicit-delayed)")
      ->type_name("NAME");
  app.add_option("--engine", engine_, "The engine: classic or lockfree")->capture_default_str();
  app.add_option("--clock", clock_, "The clock: virtual")
      ->capture_default_str()
      ->check(CLI::IsMember({"virtual"}));
  app.add_option("--costs", costs_, "The cost model: a file, or upstream")
      ->capture_default_str()
      ->type_name("FILE|upstream");
  app.add_option("--seed", seed_, "The seed; repetition i has seed + i")->capture_default_str();
  app.add_option("--repeat", repeat_, "Repetitions of each workload")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, kRepeatMax));
  app.add_option("--out", out_, "Write results.json, DataItems, benchstat and metrics here")
      ->type_name("DIR");
  app.add_option("--format", format_, "table, json or benchstat")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json", "benchstat"}));
  app.add_flag("--check-thresholds", check_thresholds_,
               "Thresholds of files decide the exit code, as those of the built-in suite do");
  app.add_flag("--require-all", require_all_, "A workload that is skipped is an error");
  app.add_option("--record", record_, "Write a trace of the run, which must be one workload's")
      ->type_name("FILE");
}

Status RunCommand::ReadGates(Plan* plan) const {
  for (const std::string& text : gates_) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name.empty() || (value != "true" && value != "false")) {
      return Error(fmt::format("--gate {}: expected NAME=true or NAME=false", text));
    }
    const std::optional<Gate> gate = ParseGate(name);
    if (gate) plan->gates.Set(*gate, value == "true");
    if (!gate) plan->gates_not_modelled.push_back("feature gate " + text);
  }
  const Result<Gates> gates = Gates::Resolve(plan->gates);
  if (!gates) return Error("--gate: " + gates.error().message());
  return Status::Ok();
}

Status RunCommand::ReadStatusModel(Plan* plan) const {
  if (status_model_.empty()) return Status::Ok();
  const std::optional<StatusModel> model = ParseStatusModel(status_model_);
  if (!model) {
    std::vector<std::string> names;
    for (const StatusModel each : kStatusModels) names.emplace_back(StatusModelName(each));
    return Error(fmt::format("--status-model: unknown model '{}'; {}", status_model_,
                             ExpectedOneOf(status_model_, names)));
  }
  plan->status_model = *model;
  return Status::Ok();
}

Result<RunCommand::Plan> RunCommand::MakePlan() const {
  Plan plan;
  const Result<EngineKind> engine = ParseEngine(engine_);
  if (!engine) return engine.error();
  plan.engine = *engine;
  if (Status status = ReadGates(&plan); !status) return status.error();
  if (Status status = ReadStatusModel(&plan); !status) return status.error();
  Result<CostModel> costs = LoadCostModel(costs_);
  if (!costs) return costs.error();
  plan.costs = std::move(*costs);
  const bool is_kep = suite_ == kKepSuite;
  Result<std::vector<TestCase>> cases = SelectWorkloads({paths_, name_, labels_, suite_, is_kep});
  if (!cases) return cases.error();
  plan.cases = std::move(*cases);
  plan.judges_thresholds = paths_.empty() || check_thresholds_;
  if (const std::string* defect = OnlyDefects(plan.cases)) return Error(*defect);
  if (is_kep) plan.scenarios = SelectScenarios(name_, labels_);
  if (plan.cases.empty() && plan.scenarios.empty()) {
    return Error("--suite kep: no workload and no scenario is left by --name and --labels");
  }
  if (Status status = AddArms(&plan); !status) return status.error();
  for (const TestCase& test_case : plan.cases) {
    for (const Workload& workload : test_case.workloads) {
      if (Status status = CheckWorkload(plan, test_case, workload); !status) return status.error();
    }
  }
  if (Status status = CheckOutputs(plan); !status) return status.error();
  return plan;
}

Status RunCommand::AddArms(Plan* plan) const {
  if (suite_ != kKepSuite) return Status::Ok();
  const auto refuse = [this](Gate gate) {
    return Error(fmt::format("--gate {}: the experiments of --suite {} decide on it",
                             GateName(gate), suite_));
  };
  for (const Gate gate : kScenarioGates) {
    if (plan->gates.Get(gate) && !plan->scenarios.empty()) return refuse(gate);
  }
  if (!status_model_.empty() && !plan->scenarios.empty()) {
    return Error("--status-model: the scenarios of --suite kep play all models");
  }
  for (TestCase& test_case : plan->cases) {
    std::vector<Workload> armed;
    for (const Workload& workload : test_case.workloads) {
      for (const Arm& arm : ArmsOf(test_case.name)) {
        if (plan->gates.Get(arm.gate)) return refuse(arm.gate);
        Workload& copy = armed.emplace_back(workload);
        copy.name = ArmedName(workload.name, arm);
        copy.gates.Set(arm.gate, arm.gate_on);
        plan->arms[test_case.name + '/' + copy.name] = arm;
      }
    }
    test_case.workloads = std::move(armed);
  }
  return Status::Ok();
}

Status RunCommand::CheckWorkload(const Plan& plan, const TestCase& test_case,
                                 const Workload& workload) const {
  const std::string place = fmt::format("{}:{}", test_case.file, workload.line);
  const Result<Gates> gates = Gates::Resolve(Merge(plan.gates, workload.gates));
  if (!gates) return Error(fmt::format("{}: {}", place, gates.error().message()));
  if (!require_all_ || CanRun(workload)) return Status::Ok();
  return Error(fmt::format("{}: --require-all: {}/{} {}", place, test_case.name, workload.name,
                           BlockingNeeds(workload)));
}

Status RunCommand::CheckOutputs(const Plan& plan) const {
  if (!suite_.empty() && !paths_.empty()) {
    return Error("--suite " + suite_ + ": expected either a suite or files");
  }
  if (!out_.empty()) {
    if (Status status = CheckWritable("--out", out_ + "/results.json"); !status) return status;
  }
  if (record_.empty()) return Status::Ok();
  if (suite_ == kKepSuite) return Error("--record: no trace can say what the experiments do");
  if (plan.cases.size() != 1 || plan.cases[0].workloads.size() != 1 || repeat_ != 1) {
    return Error("--record: expected exactly one workload and one repetition; use --name");
  }
  return CheckWritable("--record", record_);
}

Result<ExitCode> RunCommand::Run() {
  const Result<Plan> plan = MakePlan();
  if (!plan) return plan.error();
  const EnvironmentRecorder recorder(CommandLineText());
  RunReport report;
  RunDocument& document = report.document;
  document.engine = std::string(EngineName(plan->engine));
  document.seed = seed_;
  document.cost_model = plan->costs.name;
  document.gates = GateMap(*Gates::Resolve(plan->gates));
  document.status_model = std::string(StatusModelName(plan->status_model));
  for (const TestCase& test_case : plan->cases) {
    for (const Workload& workload : test_case.workloads) {
      if (Interrupted()) break;
      Result<WorkloadResult> result = RunOne(*plan, test_case, workload, &report);
      if (!result) return result.error();
      document.workloads.push_back(std::move(*result));
    }
  }
  PlayAll(*plan, &document);
  AddMemoryCosts(plan->engine, &document.environment.costs);
  static_cast<Environment&>(document.environment) = recorder.Finish();
  if (!out_.empty()) {
    if (Status status = WriteRunFiles(report, out_); !status) return status.error();
  }
  const bool colour = WantsColour(STDOUT_FILENO);
  if (format_ == "json") {
    const Result<std::string> text = DocumentText(document);
    if (!text) return text.error();
    fmt::print("{}", *text);
  } else if (format_ == "benchstat") {
    fmt::print("{}", RunBenchstat(document));
  } else {
    fmt::print("{}{}{}{}{}", RunTable(document, colour), PredictionTable(document, colour),
               ExperimentTable(document, colour), ScenarioTables(document.scenarios, colour),
               VerdictLines(document.verdicts));
  }
  if (report.input_error) return *report.input_error;
  return Verdict(*plan, document);
}

// The proposals' promises, of workloads first.
void RunCommand::PlayAll(const Plan& plan, RunDocument* document) const {
  if (suite_ != kKepSuite) return;
  document->verdicts = JudgeExperiments(*document);
  ProgressLine line;
  PlayScenarios(plan.scenarios, {.seed = seed_, .engine = plan.engine},
                {[&line](const std::string& name) { line.Show(name); }, Interrupted},
                &document->scenarios, &document->verdicts);
}

Result<WorkloadResult> RunCommand::RunOne(const Plan& plan, const TestCase& test_case,
                                          const Workload& workload, RunReport* report) const {
  const Gates gates = *Gates::Resolve(Merge(plan.gates, workload.gates));
  WorkloadResult result;
  result.test_case = test_case.name;
  result.workload = workload.name;
  result.definition = test_case.definition;
  result.labels = workload.labels;
  result.gates = GateMap(gates);
  result.not_modelled = plan.gates_not_modelled;
  for (const Need& need : NeedsOf(workload)) {
    if (!need.blocks) result.not_modelled.push_back(need.text);
  }
  report->topics[test_case.name + "/" + workload.name] = TopicOf(test_case.file);
  if (!CanRun(workload)) {
    result.outcome = WorkloadOutcome::kSkipped;
    result.reason = BlockingNeeds(workload);
    const std::string* defect = DefectOf(workload);
    if (defect != nullptr && !report->input_error) report->input_error = Error(*defect);
    return result;
  }
  if (Status status = Repeat(plan, test_case, workload, gates, &result, report); !status) {
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

Status RunCommand::Repeat(const Plan& plan, const TestCase& test_case, const Workload& workload,
                          const Gates& gates, WorkloadResult* result, RunReport* report) const {
  const std::string name = test_case.name + "/" + workload.name;
  ProgressLine line;
  for (uint64_t i = 0; i < repeat_ && result->outcome == WorkloadOutcome::kMeasured; ++i) {
    std::string trace;
    TraceRecorder recorder([&trace](const std::string& text) { trace += text + '\n'; });
    RunOptions options;
    options.engine = plan.engine;
    options.costs = &plan.costs;
    options.seed = seed_ + i;
    options.gates = gates;
    options.status_model = plan.status_model;
    options.recorder = record_.empty() ? nullptr : &recorder;
    if (const auto arm = plan.arms.find(name); arm != plan.arms.end()) {
      options.alternatives = arm->second.alternatives;
    }
    options.interrupted = Interrupted;
    options.progress = [&](Duration elapsed) {
      line.Show(fmt::format("{}: {:.1f} s of virtual time, repetition {} of {}", name,
                            std::chrono::duration<double>(elapsed).count(), i + 1, repeat_));
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
    if (!record_.empty()) {
      if (Status status = WriteFileAtomically(record_, trace); !status) return status;
    }
  }
  return Status::Ok();
}

ExitCode RunCommand::Verdict(const Plan& plan, const RunDocument& document) const {
  ExitCode code = AllHold(document.verdicts) ? ExitCode::kGood : ExitCode::kNo;
  for (const WorkloadResult& result : document.workloads) {
    if (result.outcome == WorkloadOutcome::kFailed) code = ExitCode::kNo;
    for (const ThresholdOutcome& threshold : result.thresholds) {
      if (plan.judges_thresholds && !threshold.met) code = ExitCode::kNo;
    }
  }
  return code;
}

}  // namespace schedq
