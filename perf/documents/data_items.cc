#include "perf/documents/data_items.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "perf/text/rfc3339.h"

namespace schedq {
namespace {

constexpr std::string_view kBenchmark = "BenchmarkPerfScheduling";

}  // namespace

std::string GoNameOf(const std::string& name) { return std::string(kBenchmark) + '/' + name; }

std::string WithoutGoPrefix(std::string_view name) {
  // Topics of the same program have benchmarks whose names go on: "...Experimental/".
  const size_t slash = name.find('/');
  if (name.starts_with(kBenchmark) && slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  return std::string(name);
}

void CompleteLabels(std::vector<DataItem>& items) {
  std::set<std::string> keys;
  for (const DataItem& item : items) {
    for (const auto& [key, value] : item.labels) keys.insert(key);
  }
  for (DataItem& item : items) {
    for (const std::string& key : keys) item.labels.try_emplace(key, "not applicable");
  }
}

std::string DataItemsFileName(std::string_view topic, Instant time) {
  std::string name = "BenchmarkPerfScheduling_benchmark_";
  name += topic;
  std::replace(name.begin(), name.end(), '/', '_');
  return name + '_' + Rfc3339(TruncateToSecond(time)) + ".json";
}

}  // namespace schedq
