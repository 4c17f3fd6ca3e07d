// What a run has measured so far: of each engine the workloads that have ended, and those that are
// under way.
//
// Purpose: a run that ends before its end shows what it has, whichever thread finds that out.
// Threads: any; one lock, which is held while a report is moved or copied.
// Invariants: reports hold their workloads in the order of the plan, whatever order they ended in.
// Memory: the reports.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "bench/last_resort.h"
#include "bench/program/reports/run_report.h"
#include "perf/documents/run_document.h"

namespace schedq {

class RunRecord {
 public:
  // Adds an engine. `head` is its report without workloads. Returns the engine's number, from 0.
  size_t AddEngine(RunReport head);
  // The workload at this position of the plan is under way, and this is its report if it does not
  // end.
  void KeepUnended(size_t engine, size_t position, RunReport part);
  void Keep(size_t engine, size_t position, RunReport part);
  // All its workloads have ended.
  void EndEngine(size_t engine);
  // Changes a report as far as EndEngine or AddEngine has put it together.
  void Change(size_t engine, const std::function<void(RunReport* head)>& change);

  // Calls `read` with a report as far as it has been put together.
  void Read(size_t engine, const std::function<void(const RunReport& head)>& read) const;

  // A report an engine. What is under way is in it where `end` says why it does not end.
  std::vector<RunReport> Reports(std::optional<EarlyEnd> end) const;

 private:
  struct OfEngine {
    RunReport head;
    std::map<size_t, RunReport> ended;  // By position, as the next.
    std::map<size_t, RunReport> under_way;
  };

  mutable std::mutex mutex_;  // Guards the member below.
  std::vector<OfEngine> engines_;
};

// The outcome of a workload that was ended early, unless it has another one already.
void MarkUnended(EarlyEnd end, WorkloadResult* result);

}  // namespace schedq
