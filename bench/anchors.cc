#include "bench/anchors.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "bench/anchors_text.h"

namespace schedq {

const nlohmann::json& Anchors() {
  static const nlohmann::json kAnchors = nlohmann::json::parse(kAnchorsText);
  return kAnchors;
}

std::optional<double> PriorityQueueAnchor(int64_t entries, int threads, const std::string& queue) {
  constexpr std::array<int, 3> kColumns = {1, 2, 8};
  const auto column = std::find(kColumns.begin(), kColumns.end(), threads);
  if (column == kColumns.end()) return std::nullopt;
  const nlohmann::json& table = Anchors().at("strict_priority_queues_ns_per_push_pop_pair");
  const auto size = table.find(std::to_string(entries));
  if (size == table.end()) return std::nullopt;
  const auto row = size->find(queue);
  if (row == size->end()) return std::nullopt;
  return row->at(static_cast<size_t>(column - kColumns.begin())).get<double>();
}

}  // namespace schedq
