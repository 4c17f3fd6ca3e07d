// Which devices CEL selectors choose, each pair evaluated once.
//
// Purpose: an attempt asks of each device that it looks at whether class and request select it. The
// answer follows from the expression and the device's slice alone, so it is kept.
// Threads: one.
// Memory: an expression that was ever asked for, with a byte for each listing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bench/sim/devices/device_catalog.h"
#include "bench/sim/devices/selector_check.h"

namespace schedq {

using SelectorId = uint32_t;

enum class SelectorAnswer : uint8_t { kUnknown, kMatch, kNoMatch, kError };

class SelectorMatches {
 public:
  // The number of the expression.
  SelectorId IdOf(const std::string& expression);

  SelectorAnswer Ask(SelectorId selector, ListingId listing, const DeviceCatalog::Listing& what) {
    std::vector<SelectorAnswer>& answers = selectors_[selector].answers;
    if (listing < answers.size() && answers[listing] != SelectorAnswer::kUnknown) {
      return answers[listing];
    }
    return Evaluate(selector, listing, what);
  }
  // Why Ask said kError, of the same question.
  std::string ErrorOf(SelectorId selector, const DeviceCatalog::Listing& what);

  // The number stands for another device from now on.
  void Forget(ListingId listing);

  // Evaluations so far.
  uint64_t evaluations() const { return evaluations_; }

 private:
  struct Selector {
    std::string expression;
    std::vector<SelectorAnswer> answers;  // By listing.
  };

  SelectorAnswer Evaluate(SelectorId selector, ListingId listing,
                          const DeviceCatalog::Listing& what);

  std::unordered_map<std::string, SelectorId> ids_;
  std::vector<Selector> selectors_;
  SelectorCheck check_;
  uint64_t evaluations_ = 0;
};

}  // namespace schedq
