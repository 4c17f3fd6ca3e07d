#include "tests/support/driver/log_judge.h"

namespace schedq {

std::string LogJudge::After(size_t in_flight, bool is_logged, uint64_t kept) {
  in_flight_before_ = in_flight_;
  in_flight_ = in_flight;
  kept_before_ = kept_;
  kept_ = kept;
  if (in_flight > 0) return "";
  const std::string text = std::to_string(kept) + " of " + std::to_string(kept_before_) +
                           " events are kept though no pod is in flight";
  // An event that is logged makes one more.
  const uint64_t after_event = Without(kept_before_, let_go_max_ - 1);
  if (in_flight_before_ > 0) return kept <= Without(kept_before_, let_go_max_) ? "" : text;
  if (is_logged) return kept <= after_event ? "" : text;
  return kept == kept_before_ || kept <= after_event ? "" : text;
}

std::string LogJudge::Against(const LogJudge& exact) const {
  if (kept_ < exact.kept_) {
    return std::to_string(kept_) + " events are kept, and pods in flight need " +
           std::to_string(exact.kept_);
  }
  const uint64_t surplus_before = kept_before_ - exact.kept_before_;
  const uint64_t surplus = kept_ - exact.kept_;
  // The end of the oldest pod in flight lets events go, and so does that of the last one.
  const uint64_t freed = Without(exact.kept_before_, exact.kept_);
  const bool lets_go = freed > 0 || (in_flight_ == 0 && in_flight_before_ > 0);
  const uint64_t surplus_max =
      lets_go ? Without(surplus_before + freed, let_go_max_) : surplus_before;
  if (surplus <= surplus_max) return "";
  return std::to_string(surplus) + " events are kept that no pod in flight needs, expected " +
         std::to_string(surplus_max) + " at most";
}

}  // namespace schedq
