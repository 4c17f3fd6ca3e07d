// A confidence interval, both ends included.
#pragma once

namespace schedq {

struct Interval {
  double low = 0;
  double high = 0;

  bool Contains(double value) const { return low <= value && value <= high; }
  bool Within(double lowest, double highest) const { return lowest <= low && high <= highest; }
  bool operator==(const Interval&) const = default;
};

}  // namespace schedq
