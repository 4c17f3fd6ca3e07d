#include "bench/program/reports/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "bench/anchors.h"
#include "engine/base/time/time.h"
#include "perf/documents/benchstat.h"
#include "perf/documents/data_items.h"
#include "perf/documents/document.h"
#include "perf/documents/enum_text.h"
#include "perf/files/file_io.h"
#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"
#include "perf/text/table.h"

namespace schedq {
namespace {

// The start of every virtual run; files are named by the virtual time at the end of all.
constexpr Instant kFirstRun{std::chrono::seconds(1767225600)};

std::string NameOf(const WorkloadResult& result) {
  return result.test_case + "/" + result.workload;
}

// The median over repetitions of a bucket of the first item of the metric.
std::optional<double> MedianOf(const WorkloadResult& result, const std::string& metric,
                               const std::string& bucket) {
  std::vector<double> values;
  for (const Repetition& repetition : result.repetitions) {
    for (const DataItem& item : repetition.metrics) {
      const auto found = item.data.find(bucket);
      if (item.labels.at("Metric") != metric || found == item.data.end()) continue;
      values.push_back(found->second);
      break;
    }
  }
  if (values.empty()) return std::nullopt;
  return Median(values);
}

// The sum of all counters whose sample name starts so, as a mean over repetitions.
uint64_t CounterSum(const WorkloadResult& result, const std::string& prefix) {
  uint64_t sum = 0;
  for (const Repetition& repetition : result.repetitions) {
    for (const auto& [name, count] : repetition.counters) {
      if (name.compare(0, prefix.size(), prefix) == 0) sum += count;
    }
  }
  return result.repetitions.empty() ? 0 : sum / result.repetitions.size();
}

// The outcome and, where there is one, the threshold.
TextTable::Cell ResultCell(const WorkloadResult& result) {
  const std::string outcome(TextOf(result.outcome));
  if (result.outcome == WorkloadOutcome::kFailed) return {outcome, Tone::kBad};
  if (result.outcome != WorkloadOutcome::kMeasured) return {outcome, Tone::kDim};
  if (result.thresholds.empty()) return {outcome, Tone::kGood};
  const ThresholdOutcome& threshold = result.thresholds.front();
  const std::string limit =
      fmt::format("{} {}", threshold.expect_lower ? "<" : ">", NumberText(threshold.limit));
  if (!threshold.comparable) return {limit + " (not comparable)", Tone::kDim};
  return threshold.met ? TextTable::Cell(limit + " met", Tone::kGood)
                       : TextTable::Cell(limit + " missed", Tone::kBad);
}

void AddRow(const WorkloadResult& result, TextTable* table) {
  std::string seconds;
  std::string wait;
  if (!result.repetitions.empty()) {
    const Repetition& first = result.repetitions.front();
    seconds = DurationText(first.seconds * 1e9);
    const auto latency = first.latencies.find("pod_scheduled");
    if (latency != first.latencies.end()) {
      wait = DurationText(static_cast<double>(latency->second.p99_ns));
    }
  }
  const bool ran = !result.repetitions.empty();
  const auto count = [&](const std::string& prefix) {
    return ran ? CountText(CounterSum(result, prefix)) : "";
  };
  const std::optional<double> throughput = MedianOf(result, "SchedulingThroughput", "Average");
  table->AddRow({NameOf(result),
                 ResultCell(result),
                 {throughput ? NumberText(*throughput) : "", Tone::kStrong},
                 seconds,
                 wait,
                 count("scheduler_schedule_attempts_total"),
                 count("scheduler_queueing_hint_execution_duration_seconds_count")});
}

std::string Notes(const RunDocument& document, size_t width) {
  std::map<std::string, int> skipped;
  std::map<std::string, int> named;
  std::string text;
  for (const WorkloadResult& result : document.workloads) {
    if (result.outcome == WorkloadOutcome::kSkipped) ++skipped[result.reason];
    for (const std::string& what : result.not_modelled) ++named[what];
  }
  for (const auto& [reason, count] : skipped) {
    text += Wrapped(fmt::format("skipped: {} workloads: {}", count, reason), width, 2) + '\n';
  }
  for (const WorkloadResult& result : document.workloads) {
    if (result.outcome != WorkloadOutcome::kFailed) continue;
    text += Wrapped(fmt::format("failed: {}: {}", NameOf(result), result.reason), width, 2) + '\n';
  }
  for (const auto& [what, count] : named) {
    text += Wrapped(fmt::format("not modelled, without effect in {} workloads: {}", count, what),
                    width, 2) +
            '\n';
  }
  return text;
}

struct Anchor {
  std::string workload;
  std::string own_workload;      // Of ours, with the same sizes.
  std::optional<bool> narrowed;  // Gate SchedulerPreQueueingHints as published; nullopt: either.
  double published;
  std::string source;
};

std::vector<Anchor> PublishedThroughputs() {
  const auto& measured = Anchors().at("upstream_scheduler_perf_pods_per_s");
  const auto& claims = measured.at("SchedulingWithResourceClaimTemplate 2000 pods 200 nodes");
  const auto& kep = Anchors().at("kep_6132_pods_per_s");
  const std::string claim_workload = "SchedulingWithResourceClaimTemplate/2000pods_200nodes";
  const std::string own_basic = "Basic/500Nodes_2000Pods";
  const std::string own_claims = "ClaimsOfTheirOwn/200Nodes_1000Pods/gate-";
  const std::string unsure = "KEP-6132, size not stated";
  return {
      {"SchedulingBasic/500Nodes", own_basic, std::nullopt, measured.at("SchedulingBasic/500Nodes"),
       "measured, calibrated to"},
      {claim_workload, own_claims + "on", true, claims.at("prequeueinghints_on"), "measured"},
      {claim_workload, own_claims + "off", false, claims.at("off"), "measured"},
      {claim_workload, own_claims + "on", true, kep.at("after"), unsure},
      {claim_workload, own_claims + "off", false, kep.at("before"), unsure},
  };
}

// How many times as fast narrowing makes the workload.
void AddEffect(const Anchor& on, double predicted_on, const Anchor& off, double predicted_off,
               TextTable* table) {
  const double predicted = predicted_on / predicted_off;
  const double published = on.published / off.published;
  table->AddRow({"  effect of narrowing",
                 {fmt::format("{:.2f}x", predicted), Tone::kStrong},
                 fmt::format("{:.2f}x", published),
                 ChangeText(predicted / published - 1),
                 {off.source, Tone::kDim},
                 "on to off",
                 off.workload});
}

}  // namespace

void RunReport::Add(RunReport other) {
  std::vector<RepetitionCost>& costs = other.document.environment.costs;
  // Memory that runs out leaves no half of another report here: from these on nothing allocates.
  document.workloads.reserve(document.workloads.size() + other.document.workloads.size());
  document.environment.costs.reserve(document.environment.costs.size() + costs.size());
  steps.reserve(steps.size() + other.steps.size());
  std::move(other.document.workloads.begin(), other.document.workloads.end(),
            std::back_inserter(document.workloads));
  std::move(costs.begin(), costs.end(), std::back_inserter(document.environment.costs));
  virtual_seconds += other.virtual_seconds;
  steps.insert(steps.end(), other.steps.begin(), other.steps.end());
  topics.merge(other.topics);
  for (auto& [name, runs] : other.wholes) {
    std::move(runs.begin(), runs.end(), std::back_inserter(wholes[name]));
  }
  metrics_text.merge(other.metrics_text);
  if (!other.trace.empty()) trace = std::move(other.trace);
  if (!input_error) input_error = std::move(other.input_error);
}

void RunReport::AddRepetition(RunReport repetition) {
  WorkloadResult& result = document.workloads.front();
  WorkloadResult& of_repetition = repetition.document.workloads.front();
  result.outcome = of_repetition.outcome;
  result.reason = std::move(of_repetition.reason);
  std::move(of_repetition.repetitions.begin(), of_repetition.repetitions.end(),
            std::back_inserter(result.repetitions));
  repetition.document.workloads.clear();
  // The later one's text takes the place of the one before.
  for (auto& [name, text] : repetition.metrics_text) metrics_text[name] = std::move(text);
  Add(std::move(repetition));
}

bool HasResults(const RunReport& report) {
  const std::vector<WorkloadResult>& workloads = report.document.workloads;
  return !report.document.scenarios.empty() ||
         std::any_of(workloads.begin(), workloads.end(), [](const WorkloadResult& one) {
           return one.outcome == WorkloadOutcome::kMeasured || !one.repetitions.empty();
         });
}

std::string RunTable(const RunDocument& document, const TableLayout& layout) {
  TextTable table({{"workload", Align::kLeft},
                   {"result", Align::kLeft},
                   {"pods/s"},
                   {"time"},
                   {"p99 wait"},
                   {"attempts", Align::kRight, Shown::kIfRoom},
                   {"hints asked", Align::kRight, Shown::kIfRoom}});
  for (const WorkloadResult& result : document.workloads) AddRow(result, &table);
  return document.workloads.empty() ? "" : table.Render(layout) + Notes(document, layout.width_max);
}

std::string PredictionTable(const RunDocument& document, const TableLayout& layout) {
  // On the real clock nothing is predicted: the scheduler around the queue is ours.
  const bool is_real = document.clock == ClockKind::kReal;
  TextTable table({{is_real ? "measured by" : "predicted by", Align::kLeft},
                   {is_real ? "measured here" : "predicted"},
                   {"published pods/s"},
                   {is_real ? "times" : "error"},
                   {"source", Align::kLeft, Shown::kIfRoom},
                   {"narrowing", Align::kLeft, Shown::kWide},
                   {"published for", Align::kLeft, Shown::kWide}});
  bool is_empty = true;
  const Anchor* last = nullptr;  // And what was predicted for it: with narrowing, or 0.
  double last_predicted = 0;
  const std::vector<Anchor> anchors = PublishedThroughputs();
  for (const Anchor& anchor : anchors) {
    double own = 0;
    for (const WorkloadResult& result : document.workloads) {
      const std::optional<double> predicted = MedianOf(result, "SchedulingThroughput", "Average");
      const std::string name = NameOf(result);
      if ((name != anchor.workload && name != anchor.own_workload) || !predicted) continue;
      const bool narrowed = result.gates.at("SchedulerPreQueueingHints");
      if (anchor.narrowed.value_or(narrowed) != narrowed) continue;
      is_empty = false;
      if (anchor.narrowed) own = *predicted;
      table.AddRow({name,
                    {NumberText(*predicted), Tone::kStrong},
                    NumberText(anchor.published),
                    is_real ? NumberText(*predicted / anchor.published)
                            : ChangeText(*predicted / anchor.published - 1),
                    {is_real ? "elsewhere, with kube-scheduler" : anchor.source, Tone::kDim},
                    narrowed ? "on" : "off",
                    anchor.workload});
    }
    // The anchor without narrowing follows the one with it.
    const bool is_pair = last != nullptr && last->narrowed == true && anchor.narrowed == false &&
                         own > 0 && last_predicted > 0 && !is_real;
    if (is_pair) AddEffect(*last, last_predicted, anchor, own, &table);
    last = &anchor;
    last_predicted = own;
  }
  return is_empty ? "" : "\n" + table.Render(layout);
}

Status WriteRunFiles(const RunReport& report, const std::string& folder) {
  const RunDocument& document = report.document;
  std::vector<Status> written = {
      WriteDocument(document, folder + "/results.json"),
      WriteFileAtomically(folder + "/results.benchstat", BenchstatText(document))};
  std::map<std::string, DataItemsDocument> by_topic;
  for (const WorkloadResult& result : document.workloads) {
    auto& items = by_topic[report.topics.at(NameOf(result))].items;
    for (const Repetition& repetition : result.repetitions) {
      items.insert(items.end(), repetition.metrics.begin(), repetition.metrics.end());
    }
  }
  const auto elapsed =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(report.virtual_seconds));
  for (auto& [topic, items] : by_topic) {
    for (DataItem& item : items.items) item.labels["Name"] = GoNameOf(item.labels["Name"]);
    CompleteLabels(items.items);
    const std::string name = DataItemsFileName(topic, kFirstRun + elapsed);
    written.push_back(WriteDocument(items, folder + "/" + name));
  }
  for (const auto& [name, text] : report.metrics_text) {
    std::string file = name;
    std::replace(file.begin(), file.end(), '/', '_');
    written.push_back(WriteFileAtomically(folder + "/metrics/" + file + ".prom", text));
  }
  for (const Status& status : written) {
    if (!status) return status;
  }
  return Status::Ok();
}

}  // namespace schedq
