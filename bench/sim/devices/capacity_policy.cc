#include "bench/sim/devices/capacity_policy.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace schedq {
namespace {

const Quantity* FindAmount(const NamedAmounts& amounts, const std::string& name) {
  for (const auto& [present, amount] : amounts) {
    if (present == name) return &amount;
  }
  return nullptr;
}

NamedAmounts::iterator FindNamed(const std::string& name, NamedAmounts* amounts) {
  return std::find_if(amounts->begin(), amounts->end(),
                      [&](const auto& each) { return each.first == name; });
}

// In units, or in thousandths where a part of the range has them and the feature is on.
struct RangeScale {
  bool in_milli = false;

  int64_t Of(const Quantity& amount) const {
    return in_milli ? amount.MilliValue() : amount.Value();
  }
  Quantity Back(int64_t value) const {
    return in_milli ? Quantity::OfMilli(value) : Quantity::Of(value);
  }
};

RangeScale ScaleOf(const RequestPolicy::Range& range, bool fractional_ranges) {
  const bool fits = range.least.IsWholeMilli() && (!range.most || range.most->IsWholeMilli()) &&
                    (!range.step || range.step->IsWholeMilli());
  return {fractional_ranges && fits};
}

std::optional<Quantity> RoundUpInRange(const Quantity& wanted, const RequestPolicy::Range& range,
                                       bool fractional_ranges) {
  if (wanted < range.least) return range.least;
  if (!range.step) return wanted;
  const RangeScale scale = ScaleOf(range, fractional_ranges);
  if (scale.in_milli && !wanted.IsWholeMilli()) return std::nullopt;
  const int64_t least = scale.Of(range.least);
  const int64_t step = scale.Of(*range.step);
  const int64_t added = scale.Of(wanted) - least;
  const int64_t steps = added / step + (added % step != 0 ? 1 : 0);
  if (steps > (std::numeric_limits<int64_t>::max() - least) / step) return std::nullopt;
  return scale.Back(least + steps * step);
}

bool IsInRange(const Quantity& taken, const RequestPolicy::Range& range, bool fractional_ranges) {
  if (range.most && taken > *range.most) return false;
  if (!range.step) return true;
  const RangeScale scale = ScaleOf(range, fractional_ranges);
  if (scale.in_milli && !taken.IsWholeMilli()) return false;
  return (scale.Of(taken) - scale.Of(range.least)) % scale.Of(*range.step) == 0;
}

bool Allows(const RequestPolicy& policy, const Quantity& taken, bool fractional_ranges) {
  if (policy.default_amount == taken) return true;
  if (policy.range) return IsInRange(taken, *policy.range, fractional_ranges);
  const auto& valid = policy.valid_amounts;
  return valid.empty() || std::find(valid.begin(), valid.end(), taken) != valid.end();
}

}  // namespace

std::optional<Quantity> TakenOf(const SliceCapacity& capacity, const NamedAmounts& wanted,
                                bool fractional_ranges) {
  const Quantity* const named = FindAmount(wanted, capacity.name);
  if (!capacity.policy) return named != nullptr ? *named : capacity.amount;
  const RequestPolicy& policy = *capacity.policy;
  if (named == nullptr) return policy.default_amount.value_or(capacity.amount);
  if (policy.range) return RoundUpInRange(*named, *policy.range, fractional_ranges);
  const auto& valid = policy.valid_amounts;
  const auto next = std::lower_bound(valid.begin(), valid.end(), *named);
  return next == valid.end() ? *named : *next;
}

NamedAmounts TakenOf(const SliceDevice& device, const NamedAmounts& wanted,
                     bool fractional_ranges) {
  NamedAmounts taken;
  for (const SliceCapacity& capacity : device.capacity) {
    if (const auto amount = TakenOf(capacity, wanted, fractional_ranges)) {
      taken.emplace_back(capacity.name, *amount);
    }
  }
  return taken;
}

CapacityFit FitsCapacity(const SliceDevice& device, const NamedAmounts& wanted,
                         const NamedAmounts& taken, const NamedAmounts& taken_too,
                         bool fractional_ranges) {
  for (const auto& [name, amount] : wanted) {
    const bool has = std::any_of(
        device.capacity.begin(), device.capacity.end(),
        [&wanted_name = name](const SliceCapacity& each) { return each.name == wanted_name; });
    if (!has) return CapacityFit::kLacks;
  }
  bool fits = true;
  for (const SliceCapacity& capacity : device.capacity) {
    std::optional<Quantity> total = TakenOf(capacity, wanted, fractional_ranges);
    // What cannot be represented is an error, whatever the other capacities say.
    if (!total) return CapacityFit::kNotRepresentable;
    if (capacity.policy && !Allows(*capacity.policy, *total, fractional_ranges)) fits = false;
    for (const NamedAmounts* each : {&taken, &taken_too}) {
      if (const Quantity* const amount = FindAmount(*each, capacity.name)) *total += *amount;
    }
    if (*total > capacity.amount) fits = false;
  }
  return fits ? CapacityFit::kFits : CapacityFit::kLacks;
}

void AddAmounts(const NamedAmounts& more, NamedAmounts* sum) {
  for (const auto& [name, amount] : more) {
    const auto found = FindNamed(name, sum);
    if (found != sum->end()) {
      found->second += amount;
    } else {
      sum->emplace_back(name, amount);
    }
  }
}

void RemoveAmounts(const NamedAmounts& less, NamedAmounts* sum) {
  for (const auto& [name, amount] : less) {
    const auto found = FindNamed(name, sum);
    if (found == sum->end()) continue;
    found->second -= amount;
    if (found->second == Quantity()) sum->erase(found);
  }
}

}  // namespace schedq
