#include "perf/compare/results.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "perf/compare/counters.h"
#include "perf/documents/bench_document.h"
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

void Append(Results* results, const std::string& name, const std::string& unit, double value) {
  ResultMetric& metric = results->metrics[name];
  metric.unit = unit;
  metric.values.push_back(value);
}

void AddItem(const DataItem& item, Results* results) {
  std::string place;
  std::string metric;
  std::string labels;
  for (const auto& [label, value] : item.labels) {
    if (label == "Name") {
      place = value;
    } else if (label == "Metric") {
      metric = value;
    } else if (value != "not applicable") {
      labels += (labels.empty() ? "" : ",") + label + '=' + value;
    }
  }
  const std::string name = place + ": " + metric + (labels.empty() ? "" : '{' + labels + '}') + ' ';
  for (const auto& [bucket, value] : item.data) Append(results, name + bucket, item.unit, value);
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
        Append(results, bench_case.name + ": " + contender.name, bench_case.unit, value);
      }
    }
  }
}

void AddFloor(const FloorDocument& document, Results* results) {
  for (const Measurement& measurement : document.measurements) {
    const std::string name = measurement.name + ParameterText(measurement.parameters);
    for (const double value : measurement.repetitions) {
      Append(results, name, measurement.unit, value);
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
  } else {
    return Error(path +
                 ": is no result, expected results.json, bench.json, floor.json or DataItems");
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
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path().string());
  }
  // A part of the files would be taken for all.
  if (code) return Error(folder + ": cannot be read (" + code.message() + "), expected a folder");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

void AddRun(RunDocument document, Results* results) {
  for (const WorkloadResult& result : document.workloads) {
    for (const Repetition& repetition : result.repetitions) {
      for (const DataItem& item : repetition.metrics) AddItem(item, results);
      const std::string name = result.test_case + '/' + result.workload + ": latency ";
      for (const auto& [operation, latency] : repetition.latencies) {
        Append(results, name + operation + " p50", "ns", static_cast<double>(latency.p50_ns));
        Append(results, name + operation + " p99", "ns", static_cast<double>(latency.p99_ns));
        Append(results, name + operation + " max", "ns", static_cast<double>(latency.max_ns));
      }
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
