// Plays the workloads of a run on the virtual clock, several at once.
//
// Purpose: a virtual run uses one processor; machines have more. The repetitions of one workload
// are apart from each other too.
// When not to use it: on the real clock, where runs that share processors would disturb each other.
// Threads: Play from the main thread; it returns when all has ended.
// Invariants:
//  1. What the record holds in the end does not depend on the number of jobs: parts are put
//     together in the order of the plan, and runs share nothing but the plan and the keys of names.
//  2. A workload that gave way for want of memory is played again when all others have ended.
//  3. After a signal nothing begins. A workload of which a repetition had begun is interrupted.
// Memory: the workloads under way, and what they have measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "bench/format/workload/model.h"
#include "bench/memory_share.h"
#include "bench/program/commands/run_plan.h"
#include "bench/program/commands/run_record.h"
#include "bench/program/commands/workload_player.h"
#include "bench/program/progress_line.h"
#include "bench/program/reports/run_report.h"
#include "schedq/engine_kind.h"

namespace schedq {

class SideBySide {
 public:
  // All outlive it. `first_step` is the progress line's number of the first repetition.
  SideBySide(const RunPlan* plan, const WorkloadPlayer* player, RunRecord* record,
             ProgressLine* line, size_t first_step);

  // All workloads of the plan. `number` is the engine's in the record.
  void Play(EngineKind engine, size_t number, MemoryShare* memory);

 private:
  // A workload and what its repetitions have measured.
  struct Parts {
    const TestCase* test_case;
    const Workload* workload;
    std::optional<RunReport> begun;  // nullopt: no repetition has begun.
    std::vector<std::optional<RunReport>> repetitions;
    uint64_t left;  // Repetitions that have not ended.
  };
  // A repetition of a workload: its place in `parts_`, and its number.
  struct Task {
    size_t position;
    uint64_t repetition;
  };

  WorkloadJob JobOf(EngineKind engine, const Parts& parts) const;
  // Tasks in the order in which they begin: the longest first, where several run at once.
  std::vector<Task> Tasks() const;
  void PlayTask(EngineKind engine, size_t number, const Task& task, MemoryShare* memory);
  // Whether the task is to be played: notes that its workload has begun. What is known to be
  // without effect is not played.
  bool Begin(const WorkloadJob& job, size_t number, const Task& task);
  // nullopt: the workload gave way.
  std::optional<RunReport> PlayRepetition(const WorkloadJob& job, const Task& task,
                                          MemoryShare* memory) const;
  // The whole report of a workload, from what its repetitions have measured.
  RunReport Together(const WorkloadJob& job, Parts* parts) const;

  const RunPlan& plan_;
  const WorkloadPlayer& player_;
  RunRecord* const record_;
  ProgressLine* const line_;
  const size_t first_step_;

  std::mutex mutex_;  // Guards the members below.
  std::vector<Parts> parts_;
  std::vector<Task> put_off_;  // Gave way.
};

}  // namespace schedq
