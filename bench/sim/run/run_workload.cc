#include "bench/sim/run/run_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "bench/format/workload/features.h"
#include "bench/sim/cluster/audit.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/measure/section.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/run/workload_runner.h"
#include "engine/base/time/time.h"
#include "engine/object.h"
#include "hints/plugins/builtin.h"
#include "perf/documents/data_items.h"
#include "perf/statistics/histogram.h"

namespace schedq {
namespace {

constexpr Duration kCatchUpMax = std::chrono::minutes(10);
constexpr Duration kBetweenPlacesMax = std::chrono::milliseconds(200);

// The measurements of all sections as one repetition. Counters of several sections are added.
void Collect(const WorkloadRunner& runner, RunOutcome* outcome) {
  Repetition& repetition = outcome->repetition;
  Duration duration{};
  for (const SectionResult& section : runner.sections()) {
    duration += section.duration;
    outcome->steps.Add(section.steps);
    outcome->pods += section.pods;
    outcome->pods_of_all += section.activity.pods;
    outcome->active += section.activity.length();
    repetition.metrics.insert(repetition.metrics.end(), section.items.begin(), section.items.end());
    for (const auto& [name, count] : section.counters) repetition.counters[name] += count;
    if (!section.real) continue;
    if (!repetition.real) repetition.real.emplace();
    repetition.real->Add(*section.real);
  }
  if (runner.memory()) {
    if (!repetition.real) repetition.real.emplace();
    repetition.real->memory = runner.memory();
  }
  repetition.seconds = std::chrono::duration<double>(duration).count();
  CompleteLabels(repetition.metrics);
  const auto summarize = [&](const std::string& name, const LatencyHistogram& histogram) {
    if (histogram.count() > 0) repetition.latencies[name] = LatencySummary::Of(histogram);
  };
  summarize("pod_scheduled", runner.latencies().scheduled);
  summarize("queue_wait", runner.latencies().waits);
  summarize("pod_popped", runner.latencies().popped);
  summarize("pod_added", runner.latencies().added);
  summarize("event_requeued", runner.latencies().requeued);
}

void SetOutcome(WorkloadOutcome outcome, std::string reason, RunOutcome* run) {
  run->outcome = outcome;
  run->reason = std::move(reason);
}

// Lets the scheduler handle all changes that the workload made, and then audits.
void Audit(Simulation* simulation, WorkloadRunner* runner, RunOutcome* outcome) {
  runner->StopChurns();
  const Duration lag = simulation->cluster().faults().longest_lag();
  simulation->Wait([] { return false; }, simulation->costs().informer_delay + lag);
  const WaitResult ended =
      simulation->Wait([simulation] { return simulation->scheduler().IsCaughtUp(); }, kCatchUpMax);
  if (ended == WaitResult::kInterrupted) {
    return SetOutcome(WorkloadOutcome::kInterrupted, "interrupted", outcome);
  }
  if (ended == WaitResult::kTimeout) {
    return SetOutcome(
        WorkloadOutcome::kFailed,
        fmt::format("not audited: the scheduler was busy with changes for {} virtual "
                    "minutes after the workload's end",
                    std::chrono::duration_cast<std::chrono::minutes>(kCatchUpMax).count()),
        outcome);
  }
  // Pods may still be created: those that arrive late, and those whose calls were under way. One
  // that the informers have not delivered is unknown to the scheduler, and that is no fault.
  const auto is_known = [simulation](const ClusterPod& pod) {
    return !simulation->pods().Has(pod.number) || simulation->scheduler().Knows(pod);
  };
  const AuditQuestions questions = {
      .is_known = is_known,
      .is_going =
          [simulation](const ClusterPod& pod) { return simulation->scheduler().IsOnItsWay(pod); },
      .knows_groups = simulation->gates().GenericWorkload(),
      .knows_composites = simulation->gates().CompositePodGroup(),
      .places_by_topology = PlacesByTopology(simulation->gates())};
  std::vector<std::string> faults = AuditCluster(simulation->cluster(), questions);
  if (!faults.empty() && simulation->real_scheduler() != nullptr) {
    // On real threads a pod whose binding has failed may be between two places for a moment.
    simulation->Wait([] { return false; }, kBetweenPlacesMax);
    simulation->Wait([simulation] { return simulation->scheduler().IsCaughtUp(); }, kCatchUpMax);
    const std::vector<std::string> again = AuditCluster(simulation->cluster(), questions);
    std::erase_if(faults, [&again](const std::string& fault) {
      return std::find(again.begin(), again.end(), fault) == again.end();
    });
  }
  for (std::string& fault : simulation->scheduler().Faults()) faults.push_back(std::move(fault));
  if (faults.empty()) return;
  SetOutcome(WorkloadOutcome::kFailed,
             fmt::format("the audit found {} faults: {}", faults.size(), faults.front()), outcome);
}

// The decoder has noted what the first and the last object of each template need.
PodRulesUse RulesUseOf(const Workload& workload) {
  const bool uses =
      std::any_of(workload.features.begin(), workload.features.end(), [](const FeatureUse& use) {
        switch (use.feature) {
          case Feature::kPodAffinity:
          case Feature::kPreferredPodAffinity:
          case Feature::kPodAntiAffinity:
          case Feature::kPreferredPodAntiAffinity:
          case Feature::kTopologySpread:
          case Feature::kPreferredTopologySpread:
          case Feature::kHostPorts:
          case Feature::kNodeFeatures:
            return true;
          default:
            return false;
        }
      });
  return uses ? PodRulesUse::kSome : PodRulesUse::kNone;
}

// The names that scheduler_perf's Go code makes up. Null: the workload asks for none.
std::shared_ptr<const FeatureNames> NodeFeaturesOf(const Workload& workload) {
  if (workload.node_features == 0) return nullptr;
  auto names = std::make_shared<FeatureNames>();
  for (int64_t i = 1; i <= workload.node_features; ++i) {
    names->push_back("Feature" + std::to_string(i));
  }
  std::sort(names->begin(), names->end());
  return names;
}

}  // namespace

Result<RunOutcome> RunWorkload(const TestCase& test_case, const Workload& workload,
                               const RunOptions& options) {
  RunOptions with_rules = options;
  with_rules.pod_rules = RulesUseOf(workload);
  with_rules.node_features = NodeFeaturesOf(workload);
  Simulation simulation(with_rules, test_case.scheduler);
  WorkloadRunner runner(&simulation, test_case, workload);
  const auto run = [&runner] { return runner.Run(); };
  // An exception that leaves a run on real threads would break off calls that others wait for, for
  // ever: it ends the program.
  const auto run_or_end = [&run]() noexcept { return run(); };
  const bool is_real = options.clock == ClockKind::kReal;
  const Result<WaitResult> ended = is_real ? run_or_end() : run();
  simulation.scheduler().Rethrow();
  if (!ended) return ended.error();
  if (*ended == WaitResult::kDone) simulation.Wait([] { return false; }, options.tail);
  RunOutcome outcome;
  outcome.repetition.seed = options.seed;
  Collect(runner, &outcome);
  outcome.counters = ReadMetrics(&simulation.scheduler()).Counters();
  outcome.metrics_text = MetricsTextOf(&simulation.scheduler());
  if (*ended == WaitResult::kInterrupted) {
    SetOutcome(WorkloadOutcome::kInterrupted, "interrupted", &outcome);
  } else if (*ended == WaitResult::kTimeout) {
    SetOutcome(WorkloadOutcome::kFailed, runner.failure(), &outcome);
  } else {
    Audit(&simulation, &runner, &outcome);
    simulation.scheduler().Rethrow();
  }
  if (options.recorder != nullptr) options.recorder->End();
  return outcome;
}

}  // namespace schedq
