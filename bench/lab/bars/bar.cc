#include "bench/lab/bars/bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "perf/statistics/summary.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

std::string BoundText(const Bar& bar, double bound) {
  switch (bar.kind) {
    case BarKind::kAtMost:
      return fmt::format("{} {}", bound == 0 ? "0" : NumberText(bound), bar.unit);
    case BarKind::kTimesRival:
      return fmt::format("{:g}x rival", bound);
    case BarKind::kTimesControl:
      return fmt::format("{:g}x alone", bound);
  }
  return "";
}

const BenchContender* Best(const BenchCase& group, std::initializer_list<ContenderRole> roles) {
  const BenchContender* best = nullptr;
  for (const BenchContender& one : group.contenders) {
    const bool counts = std::find(roles.begin(), roles.end(), one.role) != roles.end();
    if (!counts || one.repetitions.empty()) continue;
    if (best == nullptr || Median(one.repetitions) < Median(best->repetitions)) best = &one;
  }
  return best;
}

const BenchContender* ProductOf(const Bar& bar, const BenchCase& group) {
  if (bar.product.empty()) return Best(group, {ContenderRole::kProduct});
  for (const BenchContender& one : group.contenders) {
    if (one.name == bar.product && !one.repetitions.empty()) return &one;
  }
  return nullptr;
}

// The ratio of what was reached to what was asked; 1 and more holds the bar. A limit of 0 is held
// only by a measured 0.
double ToBar(const Bar& bar, double bound, double measured, double other) {
  switch (bar.kind) {
    case BarKind::kAtMost:
      if (bound == 0) return measured == 0 ? 1 : 0;
      return bound / measured;
    case BarKind::kTimesRival:
      return other / measured / bound;
    case BarKind::kTimesControl:
      return bound * other / measured;
  }
  return 0;
}

// The contender that the product is compared with.
const BenchContender* ComparedContender(const Bar& bar, const BenchCase& group) {
  if (bar.kind == BarKind::kTimesControl) return Best(group, {ContenderRole::kControl});
  return Best(group, {ContenderRole::kRival, ContenderRole::kClassic});
}

const Measurement* FindProbe(const FloorTerm& term, const std::vector<Measurement>& probes) {
  for (const Measurement& one : probes) {
    const auto bytes = one.parameters.find("bytes");
    const bool has_size =
        term.bytes == 0 || (bytes != one.parameters.end() && bytes->second == term.bytes);
    if (one.name == term.probe && has_size && !one.repetitions.empty()) return &one;
  }
  return nullptr;
}

std::string UnlessMeasured(const BenchCase* group) {
  if (group == nullptr) return "no such part yet";
  return "no repetition with a right answer";
}

std::optional<Floor> SumOf(const std::vector<FloorTerm>& terms,
                           const std::vector<Measurement>& probes) {
  if (terms.empty()) return std::nullopt;
  Floor floor;
  for (const FloorTerm& term : terms) {
    const Measurement* probe = FindProbe(term, probes);
    if (probe == nullptr) return std::nullopt;
    const double cost = Median(probe->repetitions);
    if (!floor.arithmetic.empty()) floor.arithmetic += " + ";
    if (probe->unit == "GB/s") {
      // A GB a second is a byte a nanosecond.
      floor.value += term.count / cost;
      floor.arithmetic += fmt::format("{:g} bytes at {} GB/s", term.count, NumberText(cost));
      continue;
    }
    floor.value += term.count * cost;
    const std::string size =
        term.bytes == 0 ? "" : " in " + BytesText(static_cast<double>(term.bytes));
    floor.arithmetic += fmt::format("{:g} {}{} x {} {}", term.count, term.probe, size,
                                    NumberText(cost), probe->unit);
  }
  return floor;
}

// The limit with its allowance, and the allowance in words.
struct Limit {
  double value = 0;
  std::string text;
};
Limit LimitOf(const Bar& bar, const std::vector<Measurement>& probes) {
  const std::optional<Floor> allowance = SumOf(bar.allowance, probes);
  if (!allowance) return {bar.limit, BoundText(bar, bar.limit)};
  const double limit = bar.limit + allowance->value;
  return {limit,
          fmt::format("{} ({:g} + {})", BoundText(bar, limit), bar.limit, allowance->arithmetic)};
}

}  // namespace

std::optional<Floor> FloorOf(const Bar& bar, const std::vector<Measurement>& probes) {
  return SumOf(bar.floor, probes);
}

BarRow JudgeBar(const Bar& bar, const BenchCase* group, const std::vector<Measurement>& probes) {
  BarRow row;
  row.path = bar.path;
  row.at = bar.at;
  const Limit limit = LimitOf(bar, probes);
  row.bar = limit.text + (bar.beats_classic ? ", above classic" : "");
  row.aim = !bar.aim_text.empty() ? bar.aim_text : bar.aim ? BoundText(bar, *bar.aim) : "";
  row.unit = bar.unit;
  if (const std::optional<Floor> floor = FloorOf(bar, probes)) {
    row.floor = floor->value;
    row.floor_arithmetic = floor->arithmetic;
  }
  const BenchContender* product = group == nullptr ? nullptr : ProductOf(bar, *group);
  if (product == nullptr) {
    row.verdict = group == nullptr ? BarVerdict::kNotBuilt : BarVerdict::kNotMeasured;
    row.reason = UnlessMeasured(group);
    return row;
  }
  row.contenders = group->contenders;
  row.measured = Median(product->repetitions) / bar.divisor;
  if (product->anchor) row.upstream = *product->anchor / bar.divisor;
  const BenchContender* other = ComparedContender(bar, *group);
  if (other != nullptr) {
    row.rival = other->name;
    row.rival_measured = Median(other->repetitions) / bar.divisor;
  } else if (bar.kind != BarKind::kAtMost) {
    row.verdict = BarVerdict::kNotMeasured;
    row.reason = "nobody to hold it against has a right answer";
    return row;
  }
  const double against = row.rival_measured.value_or(0);
  row.to_bar = ToBar(bar, limit.value, *row.measured, against);
  const BenchContender* classic = Best(*group, {ContenderRole::kClassic});
  const bool loses_to_classic = bar.beats_classic && classic != nullptr &&
                                Median(classic->repetitions) <= Median(product->repetitions);
  if (*row.to_bar < 1 || loses_to_classic) {
    row.verdict = BarVerdict::kShort;
    row.reason = loses_to_classic ? "classic is faster. " + bar.reason : bar.reason;
  } else {
    const bool reaches_aim = bar.aim && ToBar(bar, *bar.aim, *row.measured, against) >= 1;
    row.verdict = reaches_aim ? BarVerdict::kAim : BarVerdict::kMet;
  }
  return row;
}

}  // namespace schedq
