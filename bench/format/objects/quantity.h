// Quantities of resources as the Kubernetes API writes them: "100m", "500Mi", "1e3", "0.0001".
//
// Purpose: amounts that schedq counts in 64 bits. bench/format/cel/exact_quantity.h reads them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bench/format/cel/exact_quantity.h"

namespace schedq {

// A quantity is exact to a billionth; finer values are rounded up, as the API server does it.
class Quantity {
 public:
  Quantity() = default;
  static Quantity Of(int64_t units) { return Quantity(ExactQuantity::Of(units)); }
  static Quantity OfMilli(int64_t thousandths);
  // nullopt: not a quantity, or beyond 64 bits.
  static std::optional<Quantity> Parse(std::string_view text);

  // The quantity in units, rounded away from zero.
  int64_t Value() const { return exact_.Value(); }
  // The quantity in thousandths, rounded away from zero; it saturates.
  int64_t MilliValue() const { return exact_.MilliValue(); }
  // Whether MilliValue is all of it.
  bool IsWholeMilli() const;
  bool negative() const { return exact_.Sign() < 0; }
  const ExactQuantity& exact() const { return exact_; }

  bool operator==(const Quantity& other) const { return exact_ == other.exact_; }
  std::strong_ordering operator<=>(const Quantity& other) const {
    return exact_.Compare(other.exact_) <=> 0;
  }
  Quantity& operator+=(const Quantity& other) {
    exact_ = exact_.Plus(other.exact_);
    return *this;
  }
  Quantity& operator-=(const Quantity& other) {
    exact_ = exact_.Minus(other.exact_);
    return *this;
  }

 private:
  explicit Quantity(const ExactQuantity& exact) : exact_(exact) {}

  ExactQuantity exact_;
};

}  // namespace schedq
