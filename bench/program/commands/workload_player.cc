#include "bench/program/commands/workload_player.h"

#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "bench/format/suite/needs.h"
#include "bench/format/workload/device_features.h"
#include "bench/interrupt.h"
#include "bench/program/commands/run_reference.h"
#include "bench/sim/measure/thresholds.h"
#include "bench/sim/queue/trace_recorder.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "perf/documents/run_document.h"

namespace schedq {
namespace {

// Adds a repetition that ended with this outcome to the report, if it counts.
void AddOutcome(RunOutcome outcome, const std::string& name, bool is_real, RunReport* part) {
  WorkloadResult& result = part->document.workloads.front();
  part->virtual_seconds += outcome.repetition.seconds;
  part->metrics_text[name] = std::move(outcome.metrics_text);
  // On the real clock a repetition that broke off would bend the medians of the others.
  const bool counts =
      !is_real || result.repetitions.empty() || result.outcome == WorkloadOutcome::kMeasured;
  if (!counts) return;
  const double active_seconds = std::chrono::duration<double>(outcome.active).count();
  part->wholes[name].push_back({std::move(outcome.counters), outcome.pods_of_all, active_seconds});
  result.repetitions.push_back(std::move(outcome.repetition));
  part->steps.push_back(outcome.steps);
}

}  // namespace

RunReport WorkloadPlayer::Begin(const WorkloadJob& job) const {
  const Workload& workload = job.workload;
  RunReport part;
  WorkloadResult& result = part.document.workloads.emplace_back();
  result.test_case = job.test_case.name;
  result.workload = workload.name;
  result.definition = job.test_case.definition;
  result.labels = workload.labels;
  result.gates = GateMap(*Gates::Resolve(GatesOf(plan_, workload)));
  result.not_modelled = plan_.gates_not_modelled;
  for (const Need& need : NeedsOf(workload)) {
    if (!need.blocks) result.not_modelled.push_back(need.text);
  }
  part.topics[job.Name()] = TopicOf(job.test_case.file);
  if (CanRun(workload)) return part;
  result.outcome = WorkloadOutcome::kSkipped;
  result.reason = BlockingNeeds(workload);
  if (const std::string* defect = DefectOf(workload)) part.input_error = Error(*defect);
  return part;
}

void WorkloadPlayer::Judge(const WorkloadJob& job, RunReport* part) const {
  WorkloadResult& result = part->document.workloads.front();
  if (result.outcome != WorkloadOutcome::kMeasured) return;
  const auto threshold =
      JudgeThreshold(job.test_case, job.workload, result.repetitions, plan_.judges_thresholds);
  if (!threshold) {
    part->input_error = threshold.error();
  } else if (*threshold) {
    result.thresholds.push_back(**threshold);
  }
}

void WorkloadPlayer::Play(const WorkloadJob& job, uint64_t repetition,
                          const std::function<void(const RunProgress&)>& progress,
                          MemoryShare::Turn* turn, RunReport* part) const {
  try {
    PlayOrThrow(job, repetition, progress, turn, part);
  } catch (const std::bad_alloc&) {
    if (turn->GivesWayToOthers()) return;
    WorkloadResult& result = part->document.workloads.front();
    result.outcome = WorkloadOutcome::kFailed;
    result.reason = "memory ran out";
  }
}

void WorkloadPlayer::PlayOrThrow(const WorkloadJob& job, uint64_t repetition,
                                 const std::function<void(const RunProgress&)>& progress,
                                 MemoryShare::Turn* turn, RunReport* part) const {
  WorkloadResult& result = part->document.workloads.front();
  TraceRecorder recorder([part](const std::string& text) { part->trace += text + '\n'; });
  RunOptions options;
  options.engine = job.engine;
  options.clock = plan_.clock;
  options.scheduling_threads = plan_.schedulers;
  options.duration = plan_.duration;
  options.costs = &plan_.costs;
  options.gates = *Gates::Resolve(GatesOf(plan_, job.workload));
  options.devices = job.workload.devices;
  for (const auto& [name, on] : plan_.gates_asked) {
    if (bool* const feature = FindDeviceFeature(&options.devices, name)) *feature = on;
  }
  options.status_model = plan_.status_model;
  options.calls = plan_.calls;
  options.faults = plan_.faults;
  options.further_plugins = plan_.further_plugins;
  options.interrupted = [turn] { return Interrupted() || turn->MustEnd(); };
  const auto arm = plan_.arms.find(job.Name());
  if (arm != plan_.arms.end()) {
    options.alternatives = arm->second.alternatives;
    options.calls = arm->second.calls;
  }
  options.seed = request_.seed + repetition;
  options.recorder = request_.record.empty() ? nullptr : &recorder;
  options.progress = progress;
  options.live = live_;
  if (plan_.reference) options.tail = kReferenceTail;
  live_->Announce(job.Name(), std::string(EngineName(job.engine)));
  const auto started = std::chrono::steady_clock::now();
  Result<RunOutcome> outcome = RunWorkload(job.test_case, job.workload, options);
  // A short run may have ended before it was asked.
  const bool is_beyond = turn->MustEnd();
  if (turn->gave_way()) return;
  if (!outcome) {
    result.outcome = WorkloadOutcome::kFailed;
    result.reason = outcome.error().message();
    part->input_error = outcome.error();
    return;
  }
  RepetitionCost cost;
  cost.test_case = job.test_case.name;
  cost.workload = job.workload.name;
  cost.repetition = repetition;
  cost.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  part->document.environment.costs.push_back(std::move(cost));
  result.outcome = outcome->outcome;
  result.reason = std::move(outcome->reason);
  if (is_beyond || (result.outcome == WorkloadOutcome::kInterrupted && !Interrupted())) {
    result.outcome = WorkloadOutcome::kFailed;
    result.reason = turn->Reason();
  }
  AddOutcome(std::move(*outcome), job.Name(), plan_.clock == ClockKind::kReal, part);
}

}  // namespace schedq
