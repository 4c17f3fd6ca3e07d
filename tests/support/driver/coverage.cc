#include "tests/support/driver/coverage.h"

#include <fmt/format.h>

#include <algorithm>

namespace schedq {
namespace {

// Calls `visit(gates, op, place)` for each cell.
template <typename Visit>
void ForEachCell(Visit visit) {
  for (int gates = 0; gates < Coverage::kGateCombinations; ++gates) {
    for (int op = 0; op < kTraceOpCount; ++op) {
      for (int place = 0; place < kPlaceCount; ++place) {
        visit(gates, static_cast<TraceOp>(op), static_cast<Place>(place));
      }
    }
  }
}

bool PopsFromBackoff(int gates) { return gates >= 2; }

}  // namespace

std::string_view Coverage::WhyInfeasible(TraceOp op, Place place, bool pops_from_backoff) const {
  const bool is_of_groups =
      place == Place::kIncomplete || place == Place::kPending || NeedsGroups(op);
  if (is_of_groups && !has_groups_) return "these traces have no groups";
  switch (op) {
    case TraceOp::kAdd:
      if (place == Place::kAbsent || place == Place::kInFlight) return "";
      return "a queued pod is live, and a trace adds only what is not";
    case TraceOp::kUpdate:
      if (place == Place::kAbsent) return "a trace updates live pods only, and these are somewhere";
      return "";
    case TraceOp::kDelete:
    case TraceOp::kBind:
    case TraceOp::kFail:
    case TraceOp::kActivate:
    case TraceOp::kNominate:
      if (place == Place::kAbsent) return "a trace names only what is live or in flight";
      return "";
    case TraceOp::kPop:
      if (place == Place::kAbsent || place == Place::kActive) return "";
      if (place == Place::kBackoff && pops_from_backoff) return "";
      return "Pop takes from active, and with the gate on from backoff";
    default:
      return "";
  }
}

void Coverage::Add(const Coverage& other) {
  operations_ += other.operations();
  ForEachCell([&](int gates, TraceOp op, Place place) {
    counts_[gates][static_cast<int>(op)][static_cast<int>(place)] += other.At(op, place, gates);
  });
}

uint64_t Coverage::Least() const {
  uint64_t least = ~uint64_t{0};
  ForEachCell([&](int gates, TraceOp op, Place place) {
    if (WhyInfeasible(op, place, PopsFromBackoff(gates)).empty()) {
      least = std::min(least, At(op, place, gates));
    }
  });
  return least;
}

std::string Coverage::Impossible() const {
  std::string cells;
  ForEachCell([&](int gates, TraceOp op, Place place) {
    const std::string_view why = WhyInfeasible(op, place, PopsFromBackoff(gates));
    if (!why.empty() && At(op, place, gates) > 0) {
      cells += fmt::format("{} {}: {}\n", TraceOpName(op), PlaceName(place), why);
    }
  });
  return cells;
}

std::string Coverage::Table() const {
  std::string text;
  ForEachCell([&](int gates, TraceOp op, Place place) {
    if (op == TraceOp::kAdd && place == Place::kAbsent) {
      text += fmt::format("SchedulerPopFromBackoffQ={} SchedulerPreQueueingHints={}\n{:20}",
                          PopsFromBackoff(gates), gates % 2 == 1, "");
      for (int i = 0; i < kPlaceCount; ++i) {
        text += fmt::format("{:>14}", PlaceName(static_cast<Place>(i)));
      }
      text += '\n';
    }
    if (place == Place::kAbsent) text += fmt::format("{:20}", TraceOpName(op));
    const bool feasible = WhyInfeasible(op, place, PopsFromBackoff(gates)).empty();
    text += feasible ? fmt::format("{:14}", At(op, place, gates)) : fmt::format("{:>14}", "-");
    if (static_cast<int>(place) == kPlaceCount - 1) text += '\n';
  });
  return text;
}

}  // namespace schedq
