#include "bench/sim/measure/thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "perf/documents/data_items.h"
#include "perf/statistics/summary.h"

namespace schedq {
namespace {

bool Matches(const MetricSelector& selector, const DataItem& item) {
  const auto has = [&](const std::string& label, const std::string& value) {
    const auto found = item.labels.find(label);
    return found != item.labels.end() && found->second == value;
  };
  return has("Metric", selector.name) &&
         std::all_of(selector.labels.begin(), selector.labels.end(),
                     [&](const auto& wanted) { return has(wanted.first, wanted.second); });
}

}  // namespace

std::string TopicOf(const std::string& file) {
  const std::string folder =
      std::filesystem::path(file).lexically_normal().parent_path().filename().string();
  return folder.empty() || folder == ".." ? "workloads" : folder;
}

Result<std::optional<ThresholdOutcome>> JudgeThreshold(const TestCase& test_case,
                                                       const Workload& workload,
                                                       std::span<const Repetition> repetitions,
                                                       bool comparable) {
  const MetricSelector& selector = workload.threshold_selector;
  ThresholdOutcome outcome;
  outcome.metric = selector.name;
  outcome.bucket = selector.bucket;
  outcome.limit = workload.threshold.For(TopicOf(test_case.file));
  outcome.expect_lower = selector.expect_lower;
  outcome.comparable = comparable;
  if (outcome.limit == 0 || repetitions.empty()) return std::optional<ThresholdOutcome>();
  std::vector<double> measured;
  for (const Repetition& repetition : repetitions) {
    for (const DataItem& item : repetition.metrics) {
      if (!Matches(selector, item)) continue;
      const auto bucket = item.data.find(selector.bucket);
      if (bucket != item.data.end()) measured.push_back(bucket->second);
    }
  }
  if (measured.empty()) {
    return Error(fmt::format(
        "{}:{}: the threshold of {}/{} selects {} {}, which was not measured, expected a metric "
        "that is collected and occurs",
        test_case.file, workload.line, test_case.name, workload.name, selector.name,
        selector.bucket));
  }
  outcome.measured = Median(measured);
  outcome.met =
      selector.expect_lower ? outcome.measured < outcome.limit : outcome.measured > outcome.limit;
  return std::optional<ThresholdOutcome>(outcome);
}

}  // namespace schedq
