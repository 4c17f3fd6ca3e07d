// What nodes are worth to pods of one demand by their room alone, kept from attempt to attempt.
//
// Purpose: most pods of a workload ask for the same, and an attempt changes the room of one node.
// The weighted sum of what all plugins say of a node's room (PlacingPlugin::ScoreRoom) is therefore
// computed anew only for nodes whose room has changed since the last pod of that demand.
// Threads: one; each placer has its own.
// Invariant: a score that is given out is that of the node's present room in the columns.
// Cost: one comparison a node, and the scores of the nodes that have changed.
// Memory: eight bytes a node for each of the last kDemandsMax demands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/resource_table.h"

namespace schedq {

class RoomScores {
 public:
  // Scores of the nodes of a block.
  using Block = std::span<const int32_t, kNodesPerBlock>;

  // Both outlive it.
  RoomScores(const NodeColumns* nodes, const Framework& framework);

  // Scores are for this attempt's demand from now on.
  void Begin(const PlacingAttempt& attempt);
  // Those of nodes outside `wanted`, a mask of the block, mean nothing. The pod has room on those
  // within. Valid until the next call.
  Block Of(const PlacingAttempt& attempt, size_t block, uint64_t wanted);

 private:
  static constexpr size_t kDemandsMax = 8;

  struct Column {
    NodeDemand demand;
    std::vector<int32_t> scores;
    std::vector<uint32_t> versions;  // The room's, of which the score is; 0: none.
  };

  int32_t Score(const PlacingAttempt& attempt, uint32_t slot) const;

  const NodeColumns& nodes_;
  std::vector<Framework::Numbered> plugins_;  // Those that score room.
  // The latest first.
  std::vector<std::unique_ptr<Column>> columns_;
};

}  // namespace schedq
