#include "bench/format/objects/quantity.h"

#include <limits>
#include <string>

namespace schedq {

Quantity Quantity::OfMilli(int64_t thousandths) {
  if (thousandths % 1000 == 0) return Of(thousandths / 1000);
  return *Parse(std::to_string(thousandths) + 'm');
}

bool Quantity::IsWholeMilli() const {
  constexpr int64_t kMilli = 1'000'000;
  return exact_.nano() == ExactQuantity::Wide{MilliValue()} * kMilli;
}

std::optional<Quantity> Quantity::Parse(std::string_view text) {
  const auto exact = ExactQuantity::Parse(text);
  if (!exact || exact->capped()) return std::nullopt;
  const ExactQuantity max = ExactQuantity::Of(std::numeric_limits<int64_t>::max());
  const ExactQuantity magnitude = exact->Sign() < 0 ? ExactQuantity().Minus(*exact) : *exact;
  if (magnitude.Compare(max) > 0) return std::nullopt;
  return Quantity(*exact);
}

}  // namespace schedq
