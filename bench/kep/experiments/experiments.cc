#include "bench/kep/experiments/experiments.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "bench/format/suite/label_filter.h"
#include "bench/kep/dispatch/dispatch_scenarios.h"
#include "perf/documents/data_items.h"
#include "perf/text/number_text.h"
#include "perf/text/pattern.h"
#include "perf/text/table.h"

namespace schedq {
namespace {

constexpr double kMicrosecondsPerSecond = 1e6;
constexpr double kNanosecondsPerSecond = 1e9;

// The number of pods that the alternative of KEP-5142 flushes at a time: a third of the attempts
// that the scheduler of the calibrated model makes in a second.
constexpr int kFlushedWhenEmpty = 100;

Arm GateArm(std::string name, Gate gate, bool on) { return {std::move(name), gate, on, {}, {}}; }

std::vector<Arm> NarrowingArms() {
  Arm by_owner = GateArm("owner-reference", Gate::kSchedulerPreQueueingHints, true);
  by_owner.alternatives.narrows_by_owner = true;
  return {GateArm("gate-off", Gate::kSchedulerPreQueueingHints, false),
          GateArm("gate-on", Gate::kSchedulerPreQueueingHints, true), by_owner};
}

std::vector<Arm> BackoffArms() {
  Arm flush = GateArm("flush-when-empty", Gate::kSchedulerPopFromBackoffQ, false);
  flush.alternatives.flushed_when_empty = kFlushedWhenEmpty;
  return {GateArm("gate-off", Gate::kSchedulerPopFromBackoffQ, false),
          GateArm("gate-on", Gate::kSchedulerPopFromBackoffQ, true), flush};
}

// The client's rate and the client of events are those of the kube-scheduler binary.
Arm CallArm(std::string name, const std::function<void(CallSettings*)>& change) {
  Arm arm;
  arm.name = std::move(name);
  arm.calls.calls_per_second = 50;
  arm.calls.burst = 100;
  arm.calls.events_have_client = true;
  change(&arm.calls);
  return arm;
}

std::vector<Arm> CallArms() {
  const auto by_arrival = [](CallSettings* calls) { calls->order = CallOrder::kArrival; };
  return {CallArm(kArrivalArm, by_arrival), CallArm(kRelevanceArm, [](CallSettings*) {}),
          CallArm(kLimitArm,
                  [&](CallSettings* calls) {
                    by_arrival(calls);
                    calls->patches_in_flight_max = 4;  // As it was proposed.
                  }),
          CallArm(kOwnClientArm,
                  [&](CallSettings* calls) {
                    by_arrival(calls);
                    calls->bindings_have_client = true;
                  }),
          CallArm(kReentryArm, [&](CallSettings* calls) {
            by_arrival(calls);
            calls->gates_reentry = true;
          })};
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The sum of the counters whose sample names begin with `name` and contain `part`.
double Sum(const Repetition& repetition, const std::string& prefix, const std::string& part = "") {
  double sum = 0;
  for (const auto& [name, count] : repetition.counters) {
    if (name.starts_with(prefix) && Contains(name, part)) sum += static_cast<double>(count);
  }
  return sum;
}

double Throughput(const Repetition& repetition) {
  for (const DataItem& item : repetition.metrics) {
    const auto average = item.data.find("Average");
    if (item.labels.at("Metric") == "SchedulingThroughput" && average != item.data.end()) {
      return average->second;
    }
  }
  return 0;
}

}  // namespace

const std::vector<Arm>& ArmsOf(const std::string& test_case) {
  static const std::map<std::string, std::vector<Arm>> kArms = {
      {"ClaimsOfTheirOwn", NarrowingArms()},
      {"ClaimsWithSharers", NarrowingArms()},
      {"RoomInSteps", BackoffArms()},
      {"StarvedBindings", CallArms()},
  };
  static const std::vector<Arm> kNone;
  const auto found = kArms.find(test_case);
  return found == kArms.end() ? kNone : found->second;
}

std::string ArmedName(const std::string& workload, const Arm& arm) {
  return workload + '/' + arm.name;
}

ArmFigures ReadFigures(const WorkloadResult& result) {
  constexpr const char* kClaimEvent = "event=\"resource.k8s.io/ResourceClaim";
  ArmFigures figures;
  double events = 0;
  double judged = 0;
  double scheduled = 0;
  double after_flush = 0;
  double attempts = 0;
  double inversions = 0;
  double patches = 0;
  for (const Repetition& each : result.repetitions) {
    figures.pods_per_second += Throughput(each);
    judged += Sum(each, "scheduler_queueing_hint_execution_duration_seconds_count", kClaimEvent);
    events += Sum(each, "scheduler_event_handling_duration_seconds_count", kClaimEvent);
    scheduled += Sum(each, "scheduler_schedule_attempts_total", "result=\"scheduled\"");
    after_flush += Sum(each, "scheduler_pod_scheduled_after_flush_total");
    attempts += Sum(each, "scheduler_schedule_attempts_total");
    figures.idle_seconds +=
        Sum(each, "schedq_idle_with_backoff_microseconds_total") / kMicrosecondsPerSecond;
    inversions += Sum(each, "schedq_priority_inversions_total");
    patches += Sum(each, "scheduler_async_api_call_execution_total", "pod_status_patch");
    const auto bound = each.latencies.find("pod_scheduled");
    if (bound != each.latencies.end()) {
      const double p99 = static_cast<double>(bound->second.p99_ns) / kNanosecondsPerSecond;
      figures.bound_p99_seconds = std::max(figures.bound_p99_seconds, p99);
    }
    const auto waits = each.latencies.find("queue_wait");
    if (waits == each.latencies.end()) continue;
    const double longest = static_cast<double>(waits->second.max_ns) / kNanosecondsPerSecond;
    figures.longest_wait_seconds = std::max(figures.longest_wait_seconds, longest);
  }
  const double count = std::max<double>(1, static_cast<double>(result.repetitions.size()));
  figures.pods_per_second /= count;
  figures.idle_seconds /= count;
  figures.judged_per_event = events > 0 ? judged / events : 0;
  figures.scheduled = static_cast<uint64_t>(scheduled / count);
  figures.scheduled_after_flush = static_cast<uint64_t>(after_flush / count);
  figures.attempts = static_cast<uint64_t>(attempts / count);
  figures.inversions = static_cast<uint64_t>(inversions / count);
  figures.patches = static_cast<uint64_t>(patches / count);
  return figures;
}

Result<std::vector<Scenario>> SelectScenarios(const std::string& name, const std::string& labels) {
  const Result<Pattern> pattern = Pattern::Parse(name);
  if (!pattern) return Error("--name " + pattern.error().message());
  const LabelFilter filter(labels);
  std::vector<Scenario> scenarios = DispatchScenarios();
  std::erase_if(scenarios, [&](const Scenario& scenario) {
    return !filter.Accepts({scenario.is_large ? "performance" : "short"}) ||
           !pattern->IsFoundIn(scenario.name);
  });
  return scenarios;
}

std::string ExperimentTable(const RunDocument& document, const TableLayout& layout) {
  TextTable table({{"experiment", Align::kLeft},
                   {"pods/s"},
                   {"judged an event"},
                   {"after flush", Align::kRight, Shown::kIfRoom},
                   {"attempts", Align::kRight, Shown::kWide},
                   {"idle", Align::kRight, Shown::kIfRoom},
                   {"inversions", Align::kRight, Shown::kIfRoom},
                   {"longest wait", Align::kRight, Shown::kIfRoom},
                   {"p99 to bound"},
                   {"patches", Align::kRight, Shown::kWide}});
  bool is_empty = true;
  for (const WorkloadResult& result : document.workloads) {
    if (ArmsOf(result.test_case).empty() || result.outcome != WorkloadOutcome::kMeasured) continue;
    is_empty = false;
    const ArmFigures figures = ReadFigures(result);
    table.AddRow({result.test_case + "/" + result.workload,
                  {NumberText(figures.pods_per_second), Tone::kStrong},
                  NumberText(figures.judged_per_event),
                  CountText(figures.scheduled_after_flush),
                  CountText(figures.attempts),
                  DurationText(figures.idle_seconds * 1e9),
                  CountText(figures.inversions),
                  DurationText(figures.longest_wait_seconds * 1e9),
                  DurationText(figures.bound_p99_seconds * 1e9),
                  CountText(figures.patches)});
  }
  return is_empty ? "" : "\n" + table.Render(layout);
}

}  // namespace schedq
