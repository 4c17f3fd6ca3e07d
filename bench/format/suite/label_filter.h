// A filter of workloads by their labels, such as `performance,-short,+x`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace schedq {

// `x` and `+x` must be among the labels, `-x` must not. An empty filter accepts every workload.
class LabelFilter {
 public:
  LabelFilter() = default;
  explicit LabelFilter(std::string_view text);

  bool Accepts(const std::vector<std::string>& labels) const;

 private:
  struct Term {
    std::string label;
    bool wanted = true;
  };
  std::vector<Term> terms_;
};

}  // namespace schedq
