#include "bench/sim/run/run_workload.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "bench/sim/cluster/audit.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/measure/section.h"
#include "bench/sim/run/workload_runner.h"
#include "engine/base/time/time.h"
#include "perf/documents/data_items.h"
#include "perf/statistics/histogram.h"

namespace schedq {
namespace {

constexpr Duration kCatchUpMax = std::chrono::minutes(10);

// The measurements of all sections as one repetition. Counters of several sections are added.
void Collect(const WorkloadRunner& runner, RunOutcome* outcome) {
  Repetition& repetition = outcome->repetition;
  Duration duration{};
  for (const SectionResult& section : runner.sections()) {
    duration += section.duration;
    outcome->pods += section.pods;
    repetition.metrics.insert(repetition.metrics.end(), section.items.begin(), section.items.end());
    for (const auto& [name, count] : section.counters) repetition.counters[name] += count;
    if (!section.real) continue;
    if (!repetition.real) repetition.real.emplace();
    repetition.real->Add(*section.real);
  }
  repetition.seconds = std::chrono::duration<double>(duration).count();
  CompleteLabels(repetition.metrics);
  const auto summarize = [&](const std::string& name, const LatencyHistogram& histogram) {
    if (histogram.count() > 0) repetition.latencies[name] = LatencySummary::Of(histogram);
  };
  summarize("pod_scheduled", runner.latencies().scheduled);
  summarize("queue_wait", runner.latencies().waits);
  summarize("pod_popped", runner.latencies().popped);
}

// The first fault, and the number of further ones; empty: there is none.
std::string AuditText(Simulation* simulation) {
  // A change that the scheduler has not handled yet is not the scheduler's fault.
  simulation->Wait([] { return false; }, simulation->costs().informer_delay);
  simulation->Wait([simulation] { return simulation->scheduler().IsCaughtUp(); }, kCatchUpMax);
  const std::vector<std::string> faults = AuditCluster(
      simulation->cluster(),
      [simulation](const ClusterPod& pod) { return simulation->scheduler().Knows(pod); });
  if (faults.empty()) return "";
  return fmt::format("the audit found {} faults: {}", faults.size(), faults.front());
}

}  // namespace

Result<RunOutcome> RunWorkload(const TestCase& test_case, const Workload& workload,
                               const RunOptions& options) {
  Simulation simulation(options, test_case.scheduler);
  WorkloadRunner runner(&simulation, test_case, workload);
  const Result<WaitResult> ended = runner.Run();
  if (!ended) return ended.error();
  RunOutcome outcome;
  outcome.repetition.seed = options.seed;
  Collect(runner, &outcome);
  outcome.metrics_text = MetricsTextOf(&simulation.scheduler());
  if (*ended == WaitResult::kInterrupted) {
    outcome.outcome = WorkloadOutcome::kInterrupted;
    outcome.reason = "interrupted";
  } else if (*ended == WaitResult::kTimeout) {
    outcome.outcome = WorkloadOutcome::kFailed;
    outcome.reason = runner.failure();
  } else if (std::string faults = AuditText(&simulation); !faults.empty()) {
    outcome.outcome = WorkloadOutcome::kFailed;
    outcome.reason = std::move(faults);
  }
  if (options.recorder != nullptr) options.recorder->End();
  return outcome;
}

}  // namespace schedq
