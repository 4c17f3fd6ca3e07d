#include "bench/sim/placing/room_scores.h"

#include <algorithm>

namespace schedq {

RoomScores::RoomScores(const NodeColumns* nodes, const Framework& framework) : nodes_(*nodes) {
  for (const Framework::Numbered& each : framework.At(ExtensionPoint::kScore)) {
    if (each.plugin->scores_room()) plugins_.push_back(each);
  }
}

void RoomScores::Begin(const PlacingAttempt& attempt) {
  auto found = std::find_if(columns_.begin(), columns_.end(),
                            [&](const auto& column) { return column->demand == attempt.demand; });
  if (found == columns_.end()) {
    if (columns_.size() < kDemandsMax) columns_.push_back(std::make_unique<Column>());
    found = columns_.end() - 1;
    (*found)->demand = attempt.demand;
    std::fill((*found)->versions.begin(), (*found)->versions.end(), 0);
  }
  std::rotate(columns_.begin(), found, found + 1);
  const size_t slots = nodes_.blocks() * kNodesPerBlock;
  columns_.front()->scores.resize(slots);
  columns_.front()->versions.resize(slots);
}

RoomScores::Block RoomScores::Of(const PlacingAttempt& attempt, size_t block, uint64_t wanted) {
  Column& column = *columns_.front();
  const size_t first = block * kNodesPerBlock;
  const std::span<int32_t, kNodesPerBlock> scores(column.scores.data() + first, kNodesPerBlock);
  const std::span<uint32_t, kNodesPerBlock> versions(column.versions.data() + first,
                                                     kNodesPerBlock);
  const auto now = nodes_.room_versions(block);
  uint64_t changed = 0;
  for (size_t i = 0; i < kNodesPerBlock; ++i) {
    changed |= static_cast<uint64_t>(versions[i] != now[i]) << i;
  }
  ForEachNode(block, changed & wanted, [&](uint32_t slot) {
    const size_t i = slot % kNodesPerBlock;
    scores[i] = Score(attempt, slot);
    versions[i] = now[i];
  });
  return scores;
}

int32_t RoomScores::Score(const PlacingAttempt& attempt, uint32_t slot) const {
  int64_t sum = 0;
  for (const Framework::Numbered& each : plugins_) {
    sum += each.weight * each.plugin->ScoreRoom(attempt, nodes_, slot);
  }
  return static_cast<int32_t>(sum);
}

}  // namespace schedq
