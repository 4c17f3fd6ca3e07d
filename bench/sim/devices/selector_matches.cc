#include "bench/sim/devices/selector_matches.h"

#include "engine/base/result.h"

namespace schedq {

SelectorId SelectorMatches::IdOf(const std::string& expression) {
  const auto next = static_cast<SelectorId>(selectors_.size());
  const auto [found, is_new] = ids_.try_emplace(expression, next);
  if (is_new) selectors_.push_back({expression, {}});
  return found->second;
}

SelectorAnswer SelectorMatches::Evaluate(SelectorId selector, ListingId listing,
                                         const DeviceCatalog::Listing& what) {
  ++evaluations_;
  Selector& asked = selectors_[selector];
  if (asked.answers.size() <= listing) {
    asked.answers.resize(listing + 1, SelectorAnswer::kUnknown);
  }
  const Result<bool> selects = check_.Selects(asked.expression, *what.slice->object, *what.spec);
  SelectorAnswer answer = SelectorAnswer::kError;
  if (selects) answer = *selects ? SelectorAnswer::kMatch : SelectorAnswer::kNoMatch;
  return asked.answers[listing] = answer;
}

std::string SelectorMatches::ErrorOf(SelectorId selector, const DeviceCatalog::Listing& what) {
  const Result<bool> selects =
      check_.Selects(selectors_[selector].expression, *what.slice->object, *what.spec);
  return selects ? "" : selects.error().message();
}

void SelectorMatches::Forget(ListingId listing) {
  for (Selector& each : selectors_) {
    if (listing < each.answers.size()) each.answers[listing] = SelectorAnswer::kUnknown;
  }
}

}  // namespace schedq
