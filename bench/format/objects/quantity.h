// Quantities as the Kubernetes API writes them: "100m", "500Mi", "1e3", "2Gi", "0.0001".
//
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace schedq {

// A quantity is exact to a billionth; finer values are rounded up, as the API server does it.
class Quantity {
 public:
  // nullopt: not a quantity, or beyond 64 bits.
  static std::optional<Quantity> Parse(std::string_view text);

  // The quantity in units, rounded away from zero.
  int64_t Value() const { return Divide(1'000'000'000); }
  // The quantity in thousandths, rounded away from zero; it saturates.
  int64_t MilliValue() const { return Divide(1'000'000); }
  bool negative() const { return nano_ < 0; }

 private:
  __extension__ using Wide = __int128;
  explicit Quantity(Wide nano) : nano_(nano) {}
  int64_t Divide(int64_t by) const;

  Wide nano_;
};

}  // namespace schedq
