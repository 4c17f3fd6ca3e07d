// The time tier of a gate: measured metrics of two sets of results, or of two programs that play a
// duet (duet.h), by statistics.
//
// Three verdicts: a metric is worse, which fails; not one is, which passes; or the runs cannot
// tell, which is said with the number of runs that might.
// Threads: the main thread only.
#pragma once

#include "bench/program/gate/commit_build.h"
#include "bench/program/gate/duet.h"
#include "bench/program/gate/gate_report.h"
#include "bench/program/gate/side.h"
#include "engine/base/result.h"
#include "perf/compare/changes.h"
#include "perf/compare/results.h"
#include "perf/text/table.h"

namespace schedq {

struct TimeTierOptions {
  ChangesRequest request;
  bool is_strict = false;
  bool all = false;  // Show what is not tested, too.
  TableLayout layout;
};

// Two programs.
Status JudgeDuet(const Side& base, const Side& next, const DuetOptions& duet,
                 const TimeTierOptions& options, const BuildProgress& progress, GateReport* report);

// Two folders of results. An error: there is nothing that could be judged.
Status JudgeTime(const Results& base, const Results& next, const TimeTierOptions& options,
                 GateReport* report);

}  // namespace schedq
