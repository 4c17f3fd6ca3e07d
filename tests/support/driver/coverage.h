// The coverage of a driver: how often each operation met a pod in each place, by gates.
//
// The pod that an operation meets is its target. The target is the pod that the operation names, or
// the pod that it popped (absent if there was none). An operation on all pods meets each of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/format/trace/trace.h"
#include "engine/gates.h"
#include "engine/place.h"

namespace schedq {

class Coverage {
 public:
  static constexpr int kGateCombinations = 4;

  // `has_groups`: of traces with groups, else of traces without.
  explicit Coverage(bool has_groups = false) : has_groups_(has_groups) {}

  static int GatesIndex(const Gates& gates) {
    return (gates.PopFromBackoffQ() ? 2 : 0) + (gates.PreQueueingHints() ? 1 : 0);
  }
  // The reason why no trace can reach a cell; empty: a trace can.
  std::string_view WhyInfeasible(TraceOp op, Place place, bool pops_from_backoff) const;

  void Count(TraceOp op, Place place, const Gates& gates) {
    ++counts_[GatesIndex(gates)][static_cast<int>(op)][static_cast<int>(place)];
  }
  uint64_t At(TraceOp op, Place place, int gates) const {
    return counts_[gates][static_cast<int>(op)][static_cast<int>(place)];
  }
  // An operation was applied to all engines.
  void CountOperation() { ++operations_; }
  uint64_t operations() const { return operations_; }
  void Add(const Coverage& other);

  // The smallest count of a feasible cell.
  uint64_t Least() const;
  // The cells that were reached although they are infeasible; empty: none.
  std::string Impossible() const;
  // A table for each combination of gates; infeasible cells show a dash.
  std::string Table() const;

 private:
  using Cells = std::array<std::array<uint64_t, kPlaceCount>, kTraceOpCount>;
  const bool has_groups_;
  std::array<Cells, kGateCombinations> counts_{};
  uint64_t operations_ = 0;
};

}  // namespace schedq
