// Instructions a pod of a workload on the real clock.
//
// Purpose: a cost beside the processor time that neither the machine's load nor its speed changes.
// The workload is played once more, by this program under callgrind; what all threads do in the
// measured sections is counted, their waiting for each other included. Under valgrind one thread
// runs at a time, so the counts of two runs differ a little.
// Threads: the main thread only.
#pragma once

#include "bench/format/workload/model.h"
#include "bench/program/commands/run_plan.h"
#include "engine/base/result.h"
#include "perf/documents/run_document.h"
#include "schedq/engine_kind.h"

namespace schedq {

// Adds the count to each repetition of `result`. An error of one line: valgrind is missing or
// failed, or the workload did under it.
Status AddInstructionsOfRun(const RunRequest& request, const TestCase& test_case,
                            const Workload& workload, EngineKind engine, WorkloadResult* result);

}  // namespace schedq
