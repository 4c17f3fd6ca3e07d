#include "perf/documents/data_items.h"

#include <algorithm>
#include <set>

#include "perf/text/rfc3339.h"

namespace schedq {

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
