#include "bench/format/objects/quantity.h"

#include <limits>

namespace schedq {

std::optional<Quantity> Quantity::Parse(std::string_view text) {
  const auto exact = ExactQuantity::Parse(text);
  if (!exact || exact->capped()) return std::nullopt;
  const ExactQuantity max = ExactQuantity::Of(std::numeric_limits<int64_t>::max());
  const ExactQuantity magnitude = exact->Sign() < 0 ? ExactQuantity().Minus(*exact) : *exact;
  if (magnitude.Compare(max) > 0) return std::nullopt;
  return Quantity(*exact);
}

}  // namespace schedq
