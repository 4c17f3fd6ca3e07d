#include "perf/compare/results.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "perf/compare/counters.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/benchstat.h"
#include "perf/documents/data_items.h"
#include "perf/documents/document.h"
#include "perf/documents/floor_document.h"
#include "perf/files/input_file.h"
#include "perf/statistics/measurement.h"

namespace schedq {
namespace {

namespace fs = std::filesystem;

// A document names its type in its first key or two.
constexpr size_t kHeadBytes = 256;

constexpr const char* kThroughput = "SchedulingThroughput";
constexpr const char* kThroughputAverage = "SchedulingThroughput Average";

ResultMetric* Append(Results* results, const std::string& place, const std::string& what,
                     const std::string& unit, double value) {
  ResultMetric& metric = results->metrics[what.empty() ? place : place + ": " + what];
  metric.unit = unit;
  metric.place = place;
  metric.what = what;
  metric.values.push_back(value);
  if (what == kThroughputAverage) metric.is_asked_for = true;
  return &metric;
}

void AddItem(const DataItem& item, Results* results) {
  std::string place;
  std::string metric;
  std::string labels;
  for (const auto& [label, value] : item.labels) {
    if (label == "Name") {
      place = WithoutGoPrefix(value);
    } else if (label == "Metric") {
      metric = value;
    } else if (value != "not applicable") {
      labels += (labels.empty() ? "" : ",") + label + '=' + value;
    }
  }
  const std::string what = metric + (labels.empty() ? "" : '{' + labels + '}') + ' ';
  for (const auto& [bucket, value] : item.data) {
    Append(results, place, what + bucket, item.unit, value);
  }
}

// The metric that a threshold judged: of several with other labels, those that have its value.
void AskForThreshold(const WorkloadResult& result, const ThresholdOutcome& threshold,
                     Results* results) {
  const std::string workload = result.test_case + '/' + result.workload;
  for (auto& [name, metric] : results->metrics) {
    const bool is_there = metric.place == workload || metric.place.starts_with(workload + '/');
    const bool is_it =
        metric.what.starts_with(threshold.metric) &&
        metric.what.ends_with(' ' + threshold.bucket) &&
        std::string_view(" {").find(metric.what[threshold.metric.size()]) != std::string_view::npos;
    if (!is_there || !is_it) continue;
    const auto [least, most] = std::minmax_element(metric.values.begin(), metric.values.end());
    if (threshold.measured < *least || threshold.measured > *most) continue;
    metric.is_asked_for = true;
    metric.kind = threshold.expect_lower ? MeasureKind::kDuration : MeasureKind::kRate;
  }
}

// "C/W" of "PerfScheduling/C/W-8"; what measured a machine ends with its number of processors.
std::string PlaceOfBenchmark(const std::string& name, bool is_exact) {
  std::string place = WithoutGoPrefix("Benchmark" + name);
  if (place.starts_with("Benchmark")) place = name;
  const size_t dash = place.rfind('-');
  const bool has_number = dash != std::string::npos && dash + 1 < place.size() &&
                          place.find_first_not_of("0123456789", dash + 1) == std::string::npos;
  return has_number && !is_exact ? place.substr(0, dash) : place;
}

void AddBenchstat(const BenchstatFile& file, Results* results) {
  for (const BenchstatFile::Value& value : file.values) {
    std::string what = value.unit;
    const size_t slash = what.rfind('/');
    const bool is_metric = what.find('_') != std::string::npos || what.starts_with(kThroughput);
    if (is_metric && slash != std::string::npos) what[slash] = ' ';
    const bool is_throughput = what.starts_with(kThroughput);
    const std::string unit = is_throughput ? "pods/s" : is_metric ? "" : value.unit;
    ResultMetric* const metric =
        Append(results, PlaceOfBenchmark(value.name, file.exact.contains(value.unit)), what, unit,
               value.value);
    if (value.unit == "ns/op" || value.unit == "sec/op") metric->is_asked_for = true;
    const auto higher = file.higher_is_better.find(value.unit);
    if (higher == file.higher_is_better.end()) continue;
    metric->kind = higher->second ? MeasureKind::kRate : MeasureKind::kDuration;
  }
}

std::string ParameterText(const std::map<std::string, uint64_t>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += ' ' + name + ':' + std::to_string(value);
  return text;
}

void AddBench(const BenchDocument& document, Results* results) {
  for (const BenchCase& bench_case : document.cases) {
    for (const BenchContender& contender : bench_case.contenders) {
      for (const double value : contender.repetitions) {
        Append(results, bench_case.name, contender.name, bench_case.unit, value)->is_asked_for =
            contender.role == ContenderRole::kProduct;
      }
    }
  }
}

void AddFloor(const FloorDocument& document, Results* results) {
  for (const Measurement& measurement : document.measurements) {
    const std::string name = measurement.name + ParameterText(measurement.parameters);
    for (const double value : measurement.repetitions) {
      Append(results, name, "", measurement.unit, value)->is_asked_for = true;
    }
  }
}

Status AddFile(const std::string& path, Results* results) {
  const Result<std::string> text = ReadInput(path, InputFrom::kFileOrStandardInput);
  if (!text) return Error(path + ": " + text.error().message());
  const std::string head = text->substr(0, kHeadBytes);
  const auto has_key = [&head](const char* key) { return head.find(key) != std::string::npos; };
  if (has_key("\"schedq_results\"")) {
    Result<RunDocument> run = ParseDocument<RunDocument>(*text, path);
    if (!run) return run.error();
    if (const Status status = CheckMeasured(*run); !status) {
      return Error(path + ": " + status.error().message());
    }
    AddRun(std::move(*run), results);
  } else if (has_key("\"schedq_bench\"")) {
    const Result<BenchDocument> bench = ParseDocument<BenchDocument>(*text, path);
    if (!bench) return bench.error();
    AddBench(*bench, results);
  } else if (has_key("\"schedq_floor\"")) {
    const Result<FloorDocument> floor = ParseDocument<FloorDocument>(*text, path);
    if (!floor) return floor.error();
    AddFloor(*floor, results);
  } else if (has_key("\"dataItems\"")) {
    const Result<DataItemsDocument> items = ParseDocument<DataItemsDocument>(*text, path);
    if (!items) return items.error();
    for (const DataItem& item : items->items) AddItem(item, results);
  } else if (IsBenchstat(head)) {
    const Result<BenchstatFile> file = ParseBenchstat(*text, path);
    if (!file) return file.error();
    AddBenchstat(*file, results);
  } else {
    return Error(path +
                 ": is no result, expected results.json, bench.json, floor.json, DataItems or the "
                 "output of Go benchmarks");
  }
  return Status::Ok();
}

// The files of a folder to read: schedq's own if there are any, else every JSON file.
Result<std::vector<std::string>> FilesOf(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const char* name : {"results.json", "bench.json", "floor.json"}) {
    if (fs::is_regular_file(fs::path(folder) / name, ignored)) {
      files.push_back((fs::path(folder) / name).string());
    }
  }
  if (!files.empty()) return files;
  std::vector<std::string> outputs;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    const std::string extension = entry->path().extension().string();
    if (extension == ".json") files.push_back(entry->path().string());
    if (extension == ".txt" || extension == ".bench" || extension == ".benchstat") {
      outputs.push_back(entry->path().string());
    }
  }
  // A part of the files would be taken for all.
  if (code) return Error(folder + ": cannot be read (" + code.message() + "), expected a folder");
  if (files.empty()) files = std::move(outputs);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

void AddRun(RunDocument document, Results* results) {
  for (const WorkloadResult& result : document.workloads) {
    for (const Repetition& repetition : result.repetitions) {
      for (const DataItem& item : repetition.metrics) AddItem(item, results);
      const std::string place = result.test_case + '/' + result.workload;
      for (const auto& [operation, latency] : repetition.latencies) {
        const auto add = [&, name = "latency " + operation](const char* percentile,
                                                            uint64_t value) {
          Append(results, place, name + percentile, "ns", static_cast<double>(value));
        };
        add(" p50", latency.p50_ns);
        add(" p99", latency.p99_ns);
        add(" max", latency.max_ns);
      }
    }
    for (const ThresholdOutcome& threshold : result.thresholds) {
      AskForThreshold(result, threshold, results);
    }
  }
  results->run = std::move(document);
}

Result<Results> ReadResults(const std::string& path) {
  Results results;
  results.path = path;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const Result<std::vector<std::string>> files =
      is_folder ? FilesOf(path) : Result(std::vector{path});
  if (!files) return files.error();
  if (files->empty()) return Error(path + ": holds no results, expected results.json or DataItems");
  for (const std::string& file : *files) {
    if (Status status = AddFile(file, &results); !status) return status.error();
  }
  return results;
}

}  // namespace schedq
