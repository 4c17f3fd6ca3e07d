#include "bench/program/commands/run_side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "bench/format/suite/needs.h"
#include "bench/format/workload/model.h"
#include "bench/interrupt.h"
#include "bench/last_resort.h"
#include "bench/side_by_side.h"
#include "bench/sim/run/run_progress.h"
#include "perf/documents/run_document.h"

namespace schedq {
namespace {

WorkloadOutcome OutcomeOf(const RunReport& part) { return part.document.workloads.front().outcome; }

}  // namespace

SideBySide::SideBySide(const RunPlan* plan, const WorkloadPlayer* player, RunRecord* record,
                       ProgressLine* line, size_t first_step)
    : plan_(*plan), player_(*player), record_(record), line_(line), first_step_(first_step) {
  for (const TestCase& test_case : plan_.cases) {
    for (const Workload& workload : test_case.workloads) {
      Parts& parts = parts_.emplace_back();
      parts.test_case = &test_case;
      parts.workload = &workload;
      parts.repetitions.resize(plan_.repeat);
      parts.left = plan_.repeat;
    }
  }
}

WorkloadJob SideBySide::JobOf(EngineKind engine, const Parts& parts) const {
  return {*parts.test_case, *parts.workload, engine};
}

std::vector<SideBySide::Task> SideBySide::Tasks() const {
  std::vector<size_t> order(parts_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::vector<double> weights = WorkloadWeights(plan_.cases);
  if (plan_.jobs > 1) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  }
  std::vector<Task> tasks;
  for (const size_t position : order) {
    for (uint64_t i = 0; i < plan_.repeat; ++i) tasks.push_back({position, i});
  }
  return tasks;
}

void SideBySide::Play(EngineKind engine, size_t number, MemoryShare* memory) {
  const std::vector<Task> tasks = Tasks();
  DoSideBySide(tasks.size(), plan_.jobs,
               [&](size_t i) { PlayTask(engine, number, tasks[i], memory); });
  // Alone, none gives way.
  for (const Task& task : std::exchange(put_off_, {})) PlayTask(engine, number, task, memory);
  // What a signal kept from ending.
  for (size_t position = 0; position < parts_.size(); ++position) {
    Parts& parts = parts_[position];
    if (!parts.begun || parts.left == 0) continue;
    record_->Keep(number, position, Together(JobOf(engine, parts), &parts));
  }
}

bool SideBySide::Begin(const WorkloadJob& job, size_t number, const Task& task) {
  const std::lock_guard lock(mutex_);
  Parts& parts = parts_[task.position];
  if (!parts.begun) {
    if (Interrupted()) return false;
    parts.begun = player_.Begin(job);
    record_->KeepUnended(number, task.position, *parts.begun);
  }
  if (OutcomeOf(*parts.begun) != WorkloadOutcome::kMeasured) return false;
  // What follows a repetition that failed would not count.
  return !Interrupted() &&
         std::none_of(parts.repetitions.begin(),
                      parts.repetitions.begin() + static_cast<std::ptrdiff_t>(task.repetition),
                      [](const std::optional<RunReport>& earlier) {
                        return earlier && OutcomeOf(*earlier) != WorkloadOutcome::kMeasured;
                      });
}

void SideBySide::PlayTask(EngineKind engine, size_t number, const Task& task, MemoryShare* memory) {
  // The members that are read here do not change.
  const WorkloadJob job = JobOf(engine, parts_[task.position]);
  const size_t step = first_step_ + task.position * plan_.repeat + task.repetition;
  const bool is_only = plan_.repeat == 1 || !CanRun(job.workload);
  line_->Begin(step, is_only ? job.Name()
                             : fmt::format("{}, repetition {} of {}", job.Name(),
                                           task.repetition + 1, plan_.repeat));
  std::optional<RunReport> part;
  if (Begin(job, number, task)) {
    part = PlayRepetition(job, task, memory);
    if (!part) {
      line_->Show(step, "waits for memory");
      const std::lock_guard lock(mutex_);
      return put_off_.push_back(task);
    }
  }
  line_->End(step);
  const std::lock_guard lock(mutex_);
  Parts& parts = parts_[task.position];
  if (!parts.begun || (Interrupted() && !part)) return;
  parts.repetitions[task.repetition] = std::move(part);
  if (--parts.left > 0) return;
  record_->Keep(number, task.position, Together(job, &parts));
}

std::optional<RunReport> SideBySide::PlayRepetition(const WorkloadJob& job, const Task& task,
                                                    MemoryShare* memory) const {
  const size_t step = first_step_ + task.position * plan_.repeat + task.repetition;
  const auto progress = [this, step](const RunProgress& reached) {
    const double seconds = std::chrono::duration<double>(reached.elapsed).count();
    line_->Show(step, fmt::format("{:.1f} s of virtual time", seconds));
  };
  RunReport part;
  part.document.workloads.emplace_back();
  MemoryShare::Turn turn(memory);
  player_.Play(job, task.repetition, progress, &turn, &part);
  if (turn.gave_way()) return std::nullopt;
  return part;
}

RunReport SideBySide::Together(const WorkloadJob& job, Parts* parts) const {
  RunReport whole = std::move(*parts->begun);
  for (std::optional<RunReport>& repetition : parts->repetitions) {
    if (OutcomeOf(whole) != WorkloadOutcome::kMeasured) break;
    if (!repetition) {
      MarkUnended(EarlyEnd::kSignal, &whole.document.workloads.front());
      break;
    }
    whole.AddRepetition(std::move(*repetition));
  }
  player_.Judge(job, &whole);
  return whole;
}

}  // namespace schedq
