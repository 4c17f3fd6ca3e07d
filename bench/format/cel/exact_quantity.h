// Quantities of the Kubernetes API, with the arithmetic that selectors and capacities need.
//
// Purpose: "1.5Gi", "100m", "1e3" as exact numbers. Finer values than a billionth are rounded away
// from zero, as the API server does it.
// A quantity knows how the API server would hold it: as a 64-bit number and a power of ten, or as a
// number of any size. isInteger and asInteger of selectors see the difference: they are false of
// "1000m" and of "1.5Gi", although both amounts are whole.
// Limit: the magnitude saturates at 10^28, where the API server has no bound.
// Threads: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedq {

class ExactQuantity {
 public:
  __extension__ using Wide = __int128;

  ExactQuantity() = default;  // Zero.
  static ExactQuantity Of(int64_t units);
  // nullopt: not a quantity.
  static std::optional<ExactQuantity> Parse(std::string_view text);

  // Negative, zero or positive as this quantity is less than the other, equal, or greater.
  int Compare(const ExactQuantity& other) const;
  friend bool operator==(const ExactQuantity& left, const ExactQuantity& right) {
    return left.nano_ == right.nano_;
  }

  ExactQuantity Plus(const ExactQuantity& other) const;
  ExactQuantity Minus(const ExactQuantity& other) const;

  // -1, 0 or 1.
  int Sign() const { return nano_ < 0 ? -1 : (nano_ > 0 ? 1 : 0); }
  // The amount in units if the API server calls it an integer (see the top); else nullopt.
  std::optional<int64_t> Integer() const;
  double Approximate() const;

  // Whether the text said more than a binary suffix may: the API server cuts it to 2^63-1.
  bool capped() const { return capped_; }
  // The amount in billionths.
  Wide nano() const { return nano_; }
  // The amount in units or thousandths, rounded away from zero; it saturates.
  int64_t Value() const { return Divide(1'000'000'000); }
  int64_t MilliValue() const { return Divide(1'000'000); }

 private:
  int64_t Divide(int64_t by) const;

  Wide nano_ = 0;
  // The 64-bit form is value * 10^scale; there is none where `small_` is false.
  int64_t value_ = 0;
  int32_t scale_ = 0;
  bool small_ = true;
  bool capped_ = false;
};

}  // namespace schedq
