#include "bench/program/commands/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "bench/format/suite/builtin_suite.h"
#include "bench/format/workload/model.h"
#include "bench/interrupt.h"
#include "bench/kep/experiments/experiments.h"
#include "bench/kep/scenario/scenario.h"
#include "bench/lab/paths/memory_use.h"
#include "bench/last_resort.h"
#include "bench/program/command_line.h"
#include "bench/program/commands/run_calls.h"
#include "bench/program/commands/run_files.h"
#include "bench/program/commands/run_instructions.h"
#include "bench/program/commands/run_side_by_side.h"
#include "bench/program/flag_values.h"
#include "bench/program/live/http_server.h"
#include "bench/program/live/listen_address.h"
#include "bench/program/reports/real_progress.h"
#include "bench/program/reports/run_verdict.h"
#include "bench/program/usage_error.h"
#include "bench/sim/run/run_progress.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/log.h"
#include "engine/base/names/name_key.h"
#include "engine/base/random.h"
#include "engine/gates.h"
#include "perf/documents/benchstat.h"
#include "perf/documents/document.h"
#include "perf/documents/environment.h"
#include "perf/documents/run_document.h"
#include "perf/documents/scenario_document.h"
#include "perf/text/terminal.h"

namespace schedq {
namespace {

const CommandRegistration kRegistration(10, [] { return std::make_unique<RunCommand>(); });

constexpr uint64_t kRepeatMax = 1000;
constexpr uint64_t kSchedulersMax = 64;
constexpr uint64_t kJobsMax = 256;
constexpr int64_t kPodsWeighed = 10'000;

// A queued pod takes the same in every workload, so the engine is weighed once, with pods that use
// a claim each. Nothing without jemalloc.
RepetitionCost WeighMemory(EngineKind engine) {
  RepetitionCost cost;
  cost.bytes_per_pod = MeasureBytesPerPod(engine, kPodsWeighed);
  cost.allocations_per_operation = MeasureAllocationsPerOperation(engine, kPodsWeighed);
  return cost;
}

// A server of what the view shows, or none where nobody asked for one.
Result<std::unique_ptr<HttpServer>> Listen(const RunPlan& plan, LiveView* view) {
  if (!plan.listen) return std::unique_ptr<HttpServer>();
  std::vector<HttpServer::Page> pages = {
      {"/metrics", "text/plain; version=0.0.4; charset=utf-8",
       [view] { return view->MetricsText(); }},
      {"/state", "application/json", [view] { return view->StateText(); }}};
  auto server = HttpServer::Start(plan.listen->Text(), std::move(pages));
  if (!server) return Error("--listen " + server.error().message());
  ListenAddress address = *plan.listen;
  address.port = (*server)->port();
  fmt::print(stderr, "schedq run: http://{}/metrics and /state\n", address.Text());
  return server;
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
      {"schedq run --clock real --name '^Basic/'", "The engines themselves, on real threads"},
      {"schedq run --engine both --out results",
       "The whole built-in suite on both engines, with documents for `schedq compare`"},
      {"schedq run --name '^Gated/20' --record run.jsonl", "A trace for `schedq replay`"}};
  text.no =
      "a threshold missed, a workload failed, a promise broken, engines that differ, or "
      "nothing measured; stderr says which";
  text.notes =
      "Equal seeds give equal bytes on the virtual clock, on either engine. On the\n"
      "real clock both engines take turns, and they are what takes the time. Thresholds\n"
      "of files were set for real clusters: they are shown, and decide the exit code\n"
      "with --check-thresholds.";
  return text;
}

void RunCommand::Declare(CLI::App& app) {
  app.add_option("FILE", request_.paths, "Workload files; none: the built-in suite")
      ->type_name("FILE.yaml...");
  app.add_option("--suite", request_.suite, "Without files: the built-in suite")
      ->type_name("builtin|kep|storms")
      ->check(CLI::IsMember({kDefaultSuite, kKepSuite, kStormsSuite}));
  app.add_option("--name", request_.name,
                 "Only workloads whose case/workload this regular expression finds")
      ->type_name("REGEX");
  app.add_option("--labels", request_.labels, "Only workloads with label a and without b: a,-b")
      ->type_name("a,+b,-c");
  app.add_option("--gate", request_.gates, "A feature gate; it goes before those of the files")
      ->type_name("NAME=true|false")
      ->expected(1)
      ->take_all();
  app.add_option("--param", request_.params,
                 "A parameter of the files' workloads, also one that a file lacks")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  app.add_option("--status-model", request_.status_model,
                 "How KEP-5501 reports rejections, with its gate on: implicit-delayed by default")
      ->type_name("NAME");
  app.add_option("--plugin", request_.plugins, "Out-of-tree plugins of a shared library")
      ->type_name("FILE.so");
  app.add_option("--engine", request_.engine,
                 "The engine: lockfree by default, both on the real clock")
      ->type_name("lockfree|classic|both");
  DeclareClock(app);
  DeclareCalls(app, &request_.calls);
  AddSeedFlag(&app, &request_.seed, "The seed; repetition i has seed + i");
  app.add_option("--jobs", request_.jobs,
                 "On the virtual clock: workloads at once (the processors by default); results do "
                 "not depend on it")
      ->type_name("N")
      ->check(WholeNumber(1, kJobsMax));
  app.add_option("--repeat", request_.repeat,
                 "Repetitions of each workload, 1 to 1000: 1 by default, 7 on the real clock")
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
  app.add_option("--memory", request_.memory,
                 "A workload that takes more memory fails; by default most of what is free")
      ->type_name("SIZE");
  app.add_flag("--check-thresholds", request_.check_thresholds,
               "Thresholds of files decide the exit code, as those of the built-in suite do");
  app.add_option("--reference", request_.reference,
                 "Compare with measured runs of the real scheduler in this folder")
      ->type_name("DIR")
      ->check(SomeName());
  app.add_flag("--require-all", request_.require_all, "A workload that is skipped is an error");
  app.add_option("--record", request_.record,
                 "Write a trace of the run, which must be one workload's")
      ->type_name("FILE")
      ->check(SomeName());
}

void RunCommand::DeclareClock(CLI::App& app) {
  app.add_option("--clock", request_.clock, "The clock")
      ->capture_default_str()
      ->check(CLI::IsMember({"virtual", "real"}));
  app.add_option("--costs", request_.costs,
                 "The cost model: upstream by default, none on the real clock, where only the "
                 "latencies of API calls count")
      ->type_name("FILE|upstream|none");
  app.add_option("--write-costs", request_.write_costs,
                 "On the real clock: write what one workload's steps took, for --costs")
      ->type_name("FILE")
      ->check(SomeName());
  app.add_option("--schedulers", request_.schedulers,
                 "On the real clock: scheduling threads that share the queue (1 by default)")
      ->type_name("N")
      ->check(WholeNumber(1, kSchedulersMax));
  app.add_option("--duration", request_.duration,
                 "On the real clock: how long churns and steady states go on; --repeat is 1 then")
      ->type_name("30m");
  app.add_flag("--instructions", request_.instructions,
               "On the real clock: count instructions a pod too, by callgrind, in a run apart");
  app.add_option("--listen", request_.listen,
                 "On the real clock: serve /metrics and /state there while it runs; port 0: a free "
                 "one")
      ->type_name("127.0.0.1:PORT");
  app.add_flag("--listen-anywhere", request_.listens_anywhere,
               "Let --listen take an address that others can reach");
}

Result<ExitCode> RunCommand::Run() {
  NameKey::FixForProcess(request_.seed);
  const Result<RunPlan> plan = MakeRunPlan(request_);
  // An input that a signal cut short is no wrong input.
  if (!plan) return Interrupted() ? Result<ExitCode>(ExitCode::kInterrupted) : plan.error();
  // Of calls that fail in a storm there are thousands; the results count them.
  if (plan->clock == ClockKind::kReal && std::getenv("SCHEDQ_LOG") == nullptr) {
    SetLogLevel(LogLevel::kError);
  }
  RunRecord record;
  // Ends after all is shown and written: a client that is slow to ask holds it up.
  const Result<std::unique_ptr<HttpServer>> server = Listen(*plan, &live_);
  if (!server) return server.error();
  {
    LastResort last_resort([&](EarlyEnd end) { FinishUnended(*plan, end, &record); });
    last_resort.Guard([&] { Measure(*plan, &record); });
    last_resort.Disarm();
  }
  return Finish(*plan, record.Reports(std::nullopt));
}

std::vector<double> RunCommand::Weights(const RunPlan& plan) const {
  std::vector<double> once;
  for (const double weight : WorkloadWeights(plan.cases)) {
    once.insert(once.end(), plan.repeat, weight);
  }
  constexpr double kScenarioWeight = 1000;
  once.insert(once.end(), plan.scenarios.size(), kScenarioWeight);
  std::vector<double> all;
  for (size_t i = 0; i < plan.engines.size(); ++i) all.insert(all.end(), once.begin(), once.end());
  return all;
}

void RunCommand::Measure(const RunPlan& plan, RunRecord* record) const {
  ProgressLine line(Weights(plan));
  MemoryShare memory(plan.memory_bytes_max);
  const WorkloadPlayer player(&plan, &request_, &live_);
  if (plan.clock == ClockKind::kReal) return MeasureByTurns(plan, player, record, &line, &memory);
  MeasureEngine(plan, player, plan.engines.front(), record, &line, &memory);
  for (size_t i = 1; i < plan.engines.size() && !Interrupted(); ++i) {
    MeasureEngine(plan, player, plan.engines[i], record, &line, &memory);
  }
}

void RunCommand::MeasureByTurns(const RunPlan& plan, const WorkloadPlayer& player,
                                RunRecord* record, ProgressLine* line, MemoryShare* memory) const {
  const EnvironmentRecorder recorder(CommandLineText());
  for (const EngineKind engine : plan.engines) record->AddEngine(NewReport(plan, engine));
  size_t position = 0;
  for (const TestCase& test_case : plan.cases) {
    for (const Workload& workload : test_case.workloads) {
      if (Interrupted()) break;
      std::vector<WorkloadJob> jobs;
      for (const EngineKind engine : plan.engines) jobs.push_back({test_case, workload, engine});
      PlayByTurns(plan, player, jobs, position++, record, line, memory);
    }
  }
  for (size_t i = 0; i < plan.engines.size(); ++i) {
    record->EndEngine(i);
    record->Change(i, [&](RunReport* head) {
      static_cast<Environment&>(head->document.environment) = recorder.Finish();
    });
  }
}

void RunCommand::PlayByTurns(const RunPlan& plan, const WorkloadPlayer& player,
                             const std::vector<WorkloadJob>& jobs, size_t position,
                             RunRecord* record, ProgressLine* line, MemoryShare* memory) const {
  std::vector<RunReport> parts;
  std::vector<size_t> order;
  for (const WorkloadJob& job : jobs) {
    order.push_back(parts.size());
    parts.push_back(player.Begin(job));
  }
  Random random(request_.seed);
  for (uint64_t i = 0; i < plan.repeat; ++i) {
    for (size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[random.Below(left)]);
    }
    for (const size_t which : order) {
      for (size_t engine = 0; engine < parts.size(); ++engine) {
        record->KeepUnended(engine, position, parts[engine]);
      }
      Try(plan, player, jobs[which], i, line, memory, &parts[which]);
    }
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (request_.instructions) CountOne(jobs[i], &parts[i]);
    player.Judge(jobs[i], &parts[i]);
    record->Keep(i, position, std::move(parts[i]));
  }
}

void RunCommand::Try(const RunPlan& plan, const WorkloadPlayer& player, const WorkloadJob& job,
                     uint64_t repetition, ProgressLine* line, MemoryShare* memory,
                     RunReport* part) const {
  WorkloadResult& result = part->document.workloads.front();
  const bool is_only = plan.repeat == 1 || result.outcome == WorkloadOutcome::kSkipped;
  line->Next(is_only
                 ? job.Name()
                 : fmt::format("{}, repetition {} of {}", job.Name(), repetition + 1, plan.repeat));
  if (result.outcome != WorkloadOutcome::kMeasured) return;
  if (Interrupted()) return MarkUnended(EarlyEnd::kSignal, &result);
  RealProgress text;
  MemoryShare::Turn turn(memory);
  player.Play(
      job, repetition, [&](const RunProgress& progress) { line->Show(text.Text(progress)); }, &turn,
      part);
}

// Nothing to count where the workload was not measured.
void RunCommand::CountOne(const WorkloadJob& job, RunReport* part) const {
  WorkloadResult& result = part->document.workloads.front();
  if (result.repetitions.empty() || Interrupted()) return;
  const Status counted =
      AddInstructionsOfRun(request_, job.test_case, job.workload, job.engine, &result);
  // What was measured is shown all the same.
  if (!counted) part->input_error = counted.error();
}

RunReport RunCommand::NewReport(const RunPlan& plan, EngineKind engine) const {
  RunReport report;
  report.document.clock = plan.clock;
  report.document.engine = std::string(EngineName(engine));
  report.document.seed = request_.seed;
  report.document.cost_model = plan.costs.name;
  report.document.gates = GateMap(*Gates::Resolve(MergeGates(plan.gates, plan.gate_defaults)));
  report.document.status_model = std::string(StatusModelName(plan.status_model));
  report.document.environment.flags = FlagsThatDecide(request_);
  return report;
}

void RunCommand::MeasureEngine(const RunPlan& plan, const WorkloadPlayer& player, EngineKind engine,
                               RunRecord* record, ProgressLine* line, MemoryShare* memory) const {
  const EnvironmentRecorder recorder(CommandLineText());
  const size_t number = record->AddEngine(NewReport(plan, engine));
  const size_t steps = Weights(plan).size() / plan.engines.size();
  SideBySide(&plan, &player, record, line, number * steps).Play(engine, number, memory);
  record->EndEngine(number);
  const size_t scenario_step = (number + 1) * steps - plan.scenarios.size();
  PlayScenariosOf(plan, engine, number, scenario_step, record, line);
  RepetitionCost weighed;
  bool has_costs = false;
  record->Read(
      number, [&](const RunReport& head) { has_costs = !head.document.environment.costs.empty(); });
  if (has_costs && !Interrupted()) weighed = WeighMemory(engine);
  record->Change(number, [&](RunReport* head) {
    RunEnvironment& environment = head->document.environment;
    for (RepetitionCost& cost : environment.costs) {
      cost.bytes_per_pod = weighed.bytes_per_pod;
      cost.allocations_per_operation = weighed.allocations_per_operation;
    }
    static_cast<Environment&>(environment) = recorder.Finish();
  });
}

Result<ExitCode> RunCommand::Finish(const RunPlan& plan, std::vector<RunReport> reports) const {
  size_t compared = 0;
  for (RunReport& report : reports) {
    if (plan.reference) compared += plan.reference->Compare(&report);
  }
  // Nothing to show beside a line that says what is wrong.
  const bool is_empty = std::none_of(reports.begin(), reports.end(), HasResults);
  for (const RunReport& report : reports) {
    if (is_empty && report.input_error) return *report.input_error;
  }
  const Status printed = Print(reports);
  const Status written = WriteRun(request_.out, request_.record, reports, Interrupted());
  const Status costs = WriteCosts(request_.write_costs, reports.front(), Interrupted());
  for (const Status& status : {printed, written, costs}) {
    if (!status) return status.error();
  }
  std::vector<std::string> reasons;
  for (const RunReport& report : reports) {
    if (report.input_error) return *report.input_error;
    for (std::string& reason : RunFailures(report.document, plan.judges_thresholds)) {
      // What both engines lack is said once.
      const bool is_known = std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
      if (!is_known) reasons.push_back(std::move(reason));
    }
  }
  if (plan.reference && compared == 0) {
    reasons.push_back("nothing was compared: no workload that has a reference was measured");
  }
  for (std::string& difference : EngineDifferences(reports)) {
    reasons.push_back(std::move(difference));
  }
  for (const std::string& reason : reasons) fmt::print(stderr, "schedq run: {}\n", reason);
  return reasons.empty() ? ExitCode::kGood : ExitCode::kNo;
}

void RunCommand::FinishUnended(const RunPlan& plan, EarlyEnd end, RunRecord* record) const {
  std::vector<RunReport> reports = record->Reports(end);
  if (reports.empty()) return;
  const Environment environment = EnvironmentRecorder(CommandLineText()).Finish();
  for (RunReport& report : reports) {
    const bool is_complete = &report != &reports.back() && plan.clock == ClockKind::kVirtual;
    if (!is_complete) static_cast<Environment&>(report.document.environment) = environment;
  }
  if (IsTerminal(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
  if (end == EarlyEnd::kShortage) {
    // What ran out has its line on stderr.
    if (std::none_of(reports.begin(), reports.end(), HasResults)) return;
    const Status printed = Print(reports);
    const Status written = WriteRun(request_.out, request_.record, reports, /*is_partial=*/true);
    for (const Status& status : {printed, written}) {
      if (!status) fmt::print(stderr, "schedq run: {}\n", OneLine(status.error().message()));
    }
    return;
  }
  const Result<ExitCode> finished = Finish(plan, std::move(reports));
  if (!finished) fmt::print(stderr, "schedq run: {}\n", OneLine(finished.error().message()));
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
    fmt::print("{}", BenchstatText(document));
  } else {
    fmt::print("{}", RunText(reports, LayoutOf(STDOUT_FILENO, request_.wide)));
  }
  std::fflush(stdout);
  return Status::Ok();
}

void RunCommand::PlayScenariosOf(const RunPlan& plan, EngineKind engine, size_t number,
                                 size_t first_step, RunRecord* record, ProgressLine* line) const {
  if (request_.suite != kKepSuite) return;
  std::vector<ScenarioResult> scenarios;
  std::vector<PromiseVerdict> verdicts;
  record->Read(number, [&](const RunReport& head) { verdicts = JudgeExperiments(head.document); });
  const auto keep = [&] {
    record->Change(number, [&](RunReport* head) {
      head->document.scenarios = scenarios;
      head->document.verdicts = verdicts;
    });
  };
  size_t step = first_step;
  const auto announce = [&](const std::string& name) {
    keep();
    if (step > first_step) line->End(step - 1);
    line->Begin(step++, name);
  };
  PlayScenarios(plan.scenarios, {.seed = request_.seed, .engine = engine}, {announce, Interrupted},
                &scenarios, &verdicts);
  if (step > first_step) line->End(step - 1);
  keep();
}

}  // namespace schedq
