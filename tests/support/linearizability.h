// Decides whether a small history is linearizable.
//
// Purpose: CheckLinearizable<Spec>(history) searches for an order of the operations. The order must
// respect which operation preceded which, and the sequential specification must give every recorded
// result in it. Where there is none, the verdict names the shortest prefix of the history that has
// none.
// When not to use it: for histories of more than kOperationsMax operations; use shorter runs.
// A specification is a type with
//   State      copyable, with operator<; the value-initialised state is the start
//   Operation  an operation with its arguments
//   Result     an operation's result, with operator==
//   static Result Apply(State&, const Operation&)
//   static std::string Describe(const Operation&), static std::string Describe(const Result&)
// and, if some operations may have no effect although they have responded,
//   static bool IsOptional(const Operation&)
// Allowed threads: the caller's.
// Memory bound: the pairs (operations done, state) that the search meets, each once.
// Source: J. Wing, C. Gong, Testing and Verifying Concurrent Objects, 1993; with G. Lowe's
// memoisation of visited configurations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/history.h"

namespace schedq {

struct Linearizability {
  bool holds = true;
  uint64_t configurations = 0;  // Visited by the search; 0 means that nothing was checked.
  std::string explanation;      // The minimal failing history, one operation a line.
};

namespace internal {

inline constexpr size_t kOperationsMax = 64;

template <typename Spec, typename Ordering>
class LinearizationSearch {
 public:
  using Entry = Call<Spec, Ordering>;
  using State = typename Spec::State;

  explicit LinearizationSearch(const std::vector<Entry>& history) : history_(history) {
    before_.resize(history.size(), 0);
    for (size_t i = 0; i < history.size(); ++i) {
      if (history[i].result) must_ |= Bit(i);
      for (size_t j = 0; j < history.size(); ++j) {
        const bool precedes = i != j && history[j].result &&
                              (Ordering::Precedes(history[j].responded, history[i].invoked) ||
                               (history[j].thread == history[i].thread &&
                                history[j].invoked.sequence < history[i].invoked.sequence));
        if (precedes) before_[i] |= Bit(j);
      }
    }
  }

  bool Find() { return Extend(0, State()); }
  uint64_t configurations() const { return visited_.size(); }

 private:
  static uint64_t Bit(size_t index) { return uint64_t{1} << index; }

  // Whether the other operations can follow those in `done`, which led to `state`. The depth of the
  // recursion is at most the number of operations.
  bool Extend(uint64_t done, const State& state) {
    if ((must_ & ~done) == 0) return true;
    if (!visited_.emplace(done, state).second) return false;
    for (size_t i = 0; i < history_.size(); ++i) {
      if ((done & Bit(i)) != 0 || (before_[i] & ~done) != 0) continue;
      State next = state;
      const auto result = Spec::Apply(next, history_[i].operation);
      const bool fits = !history_[i].result || *history_[i].result == result;
      if (fits && Extend(done | Bit(i), next)) return true;
      if (IsOptional(history_[i].operation) && Extend(done | Bit(i), state)) return true;
    }
    return false;
  }
  static bool IsOptional(const typename Spec::Operation& operation) {
    if constexpr (requires { Spec::IsOptional(operation); }) return Spec::IsOptional(operation);
    return false;
  }

  const std::vector<Entry>& history_;
  uint64_t must_ = 0;             // The operations that responded.
  std::vector<uint64_t> before_;  // For each operation, those that must precede it.
  std::set<std::pair<uint64_t, State>> visited_;
};

// The part of the history up to and including `moment`.
template <typename Entry>
std::vector<Entry> PrefixOf(const std::vector<Entry>& history, uint64_t moment) {
  std::vector<Entry> prefix;
  for (const Entry& entry : history) {
    if (entry.invoked.sequence > moment) continue;
    prefix.push_back(entry);
    if (entry.responded.sequence > moment) prefix.back().result.reset();
  }
  return prefix;
}

template <typename Spec, typename Entry>
std::string DescribeHistory(std::vector<Entry> history) {
  std::sort(history.begin(), history.end(), [](const Entry& left, const Entry& right) {
    return left.invoked.sequence < right.invoked.sequence;
  });
  std::string text;
  for (const Entry& entry : history) {
    text += "\n  thread " + std::to_string(entry.thread) + "  [" +
            std::to_string(entry.invoked.sequence) + ", " +
            (entry.result ? std::to_string(entry.responded.sequence) : "pending") + "]  " +
            Spec::Describe(entry.operation) +
            (entry.result ? " -> " + Spec::Describe(*entry.result) : "");
  }
  return text;
}

template <typename Spec, typename Ordering>
bool Linearizes(const std::vector<Call<Spec, Ordering>>& history) {
  return LinearizationSearch<Spec, Ordering>(history).Find();
}

}  // namespace internal

template <typename Spec, typename Ordering>
Linearizability CheckLinearizable(const std::vector<Call<Spec, Ordering>>& history) {
  using Entry = Call<Spec, Ordering>;
  Linearizability verdict;
  if (history.size() > internal::kOperationsMax) {
    verdict.holds = false;
    verdict.explanation = "a history of " + std::to_string(history.size()) +
                          " operations is too long; at most 64 are checked";
    return verdict;
  }
  internal::LinearizationSearch<Spec, Ordering> search(history);
  verdict.holds = search.Find();
  verdict.configurations = search.configurations();
  if (verdict.holds) return verdict;

  // Linearizability is closed under prefixes, so the first response that breaks it is well defined.
  // Pending operations that do not matter are left out.
  std::vector<uint64_t> responses;
  for (const Entry& entry : history) {
    if (entry.result) responses.push_back(entry.responded.sequence);
  }
  std::sort(responses.begin(), responses.end());
  std::vector<Entry> shortest = history;
  for (uint64_t response : responses) {
    shortest = internal::PrefixOf(history, response);
    if (!internal::Linearizes<Spec, Ordering>(shortest)) break;
  }
  for (size_t i = shortest.size(); i-- > 0;) {
    if (shortest[i].result) continue;
    std::vector<Entry> without = shortest;
    without.erase(without.begin() + static_cast<ptrdiff_t>(i));
    if (!internal::Linearizes<Spec, Ordering>(without)) shortest = std::move(without);
  }
  verdict.explanation =
      "no order explains this history:" + internal::DescribeHistory<Spec>(shortest);
  return verdict;
}

}  // namespace schedq
