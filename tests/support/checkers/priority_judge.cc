#include "tests/support/checkers/priority_judge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/lockfree/active/active_entry.h"
#include "tests/support/checkers/timed_calls.h"

namespace schedq {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

struct Interval {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// From one entry's push to its end.
struct Life {
  ActiveEntry entry;
  Interval push;
  Interval pop = {kNever, kNever};
  Interval removal = {kNever, kNever};

  bool IsPopped() const { return pop.begin != kNever; }
  bool IsRemoved() const { return removal.begin != kNever; }
  // Without its ends, at which the push or the pop may still take effect.
  Interval CertainlyThere() const { return {push.end, IsPopped() ? pop.begin : removal.begin}; }
  // When the pop may take effect, as far as this entry alone is concerned: behind the beginning of
  // the push, and not behind a removal.
  Interval PopWindow() const {
    return {std::max(push.begin, pop.begin), std::min(pop.end, removal.end)};
  }
};

// A union of intervals, of each the inner points.
class CoveredTime {
 public:
  void Add(Interval added) {
    if (added.begin >= added.end) return;
    auto next = ends_.upper_bound(added.begin);
    if (next != ends_.begin()) {
      const auto before = std::prev(next);
      if (before->second > added.begin) {
        added.begin = before->first;
        added.end = std::max(added.end, before->second);
        next = ends_.erase(before);
      }
    }
    while (next != ends_.end() && next->first < added.end) {
      added.end = std::max(added.end, next->second);
      next = ends_.erase(next);
    }
    ends_.emplace_hint(next, added.begin, added.end);
  }

  bool Covers(Interval asked) const {
    const auto next = ends_.lower_bound(asked.begin);
    return next != ends_.begin() && std::prev(next)->second > asked.end;
  }
  // Whether some instant of it is covered.
  bool Meets(Interval asked) const {
    const auto next = ends_.lower_bound(asked.begin);
    if (next != ends_.end() && next->first < asked.end) return true;
    return next != ends_.begin() && std::prev(next)->second > asked.begin;
  }

 private:
  std::map<uint64_t, uint64_t> ends_;  // By their beginnings; no two have an inner point in common.
};

std::string TextOf(Interval interval) {
  const std::string end = interval.end == kNever ? "..." : std::to_string(interval.end);
  return "[" + std::to_string(interval.begin) + ", " + end + "]";
}
std::string TextOf(const ActiveEntry& entry) {
  return "ticket " + std::to_string(entry.ticket) + " of priority " +
         std::to_string(entry.priority) + ", timestamp " + std::to_string(entry.timestamp_ns);
}
std::string TextOf(const Life& life) {
  std::string text = TextOf(life.entry) + ", pushed in " + TextOf(life.push);
  if (life.IsPopped()) text += ", popped in " + TextOf(life.pop);
  if (life.IsRemoved()) text += ", removed in " + TextOf(life.removal);
  return text;
}

class Judge {
 public:
  PriorityVerdict Run(std::span<const std::vector<TimedCall>* const> threads) {
    CollectPushes(threads);
    if (verdict_.holds) CollectEnds(threads);
    if (verdict_.holds) CheckPops();
    if (verdict_.holds) CheckPopsOfNothing();
    return std::move(verdict_);
  }

 private:
  void Refuse(std::string why) {
    if (!std::exchange(verdict_.holds, false)) return;
    verdict_.explanation = std::move(why);
  }

  // Puts all lives in the order of their tickets.
  void CollectPushes(std::span<const std::vector<TimedCall>* const> threads) {
    for (const auto* calls : threads) {
      for (const TimedCall& call : *calls) {
        if (call.kind != TimedCall::Kind::kPush) continue;
        lives_.push_back({call.entry, {call.invoked_ns, call.responded_ns}});
      }
    }
    verdict_.pushes = lives_.size();
    std::sort(lives_.begin(), lives_.end(), [](const Life& left, const Life& right) {
      return left.entry.ticket < right.entry.ticket;
    });
    const auto twice =
        std::adjacent_find(lives_.begin(), lives_.end(), [](const Life& left, const Life& right) {
          return left.entry.ticket == right.entry.ticket;
        });
    if (twice != lives_.end()) Refuse("pushed twice: " + TextOf(*twice));
  }

  Life* Find(uint64_t ticket) {
    const auto found = std::lower_bound(
        lives_.begin(), lives_.end(), ticket,
        [](const Life& life, uint64_t wanted) { return life.entry.ticket < wanted; });
    return found == lives_.end() || found->entry.ticket != ticket ? nullptr : &*found;
  }

  void CollectEnds(std::span<const std::vector<TimedCall>* const> threads) {
    for (const auto* calls : threads) {
      for (const TimedCall& call : *calls) {
        const Interval interval{call.invoked_ns, call.responded_ns};
        if (call.kind == TimedCall::Kind::kPush) continue;
        if (call.responded_ns == TimedCall::kPending)
          return Refuse("a pop or a removal is pending");
        if (call.kind == TimedCall::Kind::kPopNothing) {
          empty_.push_back(interval);
        } else {
          End(call, interval);
        }
        if (!verdict_.holds) return;
      }
    }
    verdict_.pops_of_nothing = empty_.size();
  }

  void End(const TimedCall& call, Interval interval) {
    const bool is_pop = call.kind == TimedCall::Kind::kPop;
    Life* const life = Find(call.entry.ticket);
    if (life == nullptr) return Refuse("never pushed: " + TextOf(call.entry));
    Interval& own = is_pop ? life->pop : life->removal;
    const Interval other = std::exchange(own, interval);
    if (other.begin != kNever) {
      return Refuse((is_pop ? "popped twice, before in " : "removed twice, before in ") +
                    TextOf(other) + ": " + TextOf(*life));
    }
    if (is_pop && !(life->entry == call.entry)) {
      return Refuse("popped as " + TextOf(call.entry) + ": " + TextOf(*life));
    }
    ++(is_pop ? verdict_.pops : verdict_.removals);
  }

  void CheckPops() {
    std::sort(lives_.begin(), lives_.end(), [](const Life& left, const Life& right) {
      return GoesBefore(left.entry, right.entry);
    });
    for (size_t first = 0; first < lives_.size() && verdict_.holds;) {
      size_t end = first;
      // Entries of one key do not go before each other.
      for (; end < lives_.size() && !GoesBefore(lives_[first].entry, lives_[end].entry); ++end) {
        CheckLife(lives_[end]);
      }
      for (; first < end; ++first) covered_.Add(lives_[first].CertainlyThere());
    }
  }

  void CheckLife(const Life& life) {
    if (life.IsRemoved() && life.removal.end < life.push.begin) {
      return Refuse("removed before it was pushed: " + TextOf(life));
    }
    if (!life.IsPopped()) return;
    const Interval window = life.PopWindow();
    if (window.begin > window.end) {
      return Refuse("popped before it was pushed, or after it was removed: " + TextOf(life));
    }
    if (covered_.Covers(window)) {
      return Refuse("popped while a better one was there all the time: " + TextOf(life) +
                    Obstacles(window, &life.entry));
    }
    if (covered_.Meets(window)) ++verdict_.pops_confined;
  }

  void CheckPopsOfNothing() {
    for (const Interval& call : empty_) {
      if (covered_.Covers(call)) {
        return Refuse("nothing was popped in " + TextOf(call) +
                      " while there was something all the time" + Obstacles(call, nullptr));
      }
      if (covered_.Meets(call)) ++verdict_.pops_confined;
    }
  }

  // Entries that together are there in all of `window`, and go before `entry` if there is one.
  std::string Obstacles(Interval window, const ActiveEntry* entry) const {
    constexpr int kShownMax = 8;
    std::string text;
    // Each next one reaches furthest of those that cover the instant at which the last one ends.
    uint64_t reached = window.begin;
    for (int shown = 0; shown < kShownMax && reached <= window.end; ++shown) {
      const Life* furthest = nullptr;
      for (const Life& life : lives_) {
        if (entry != nullptr && !GoesBefore(life.entry, *entry)) break;
        const Interval there = life.CertainlyThere();
        if (there.begin >= reached || there.end <= reached) continue;
        if (furthest == nullptr || there.end > furthest->CertainlyThere().end) furthest = &life;
      }
      if (furthest == nullptr) break;
      text += "\n  " + TextOf(*furthest);
      reached = furthest->CertainlyThere().end;
    }
    return text;
  }

  PriorityVerdict verdict_;
  std::vector<Life> lives_;
  std::vector<Interval> empty_;
  CoveredTime covered_;  // By entries that go before the one that is asked about.
};

}  // namespace

PriorityVerdict JudgePriorityHistory(std::span<const std::vector<TimedCall>* const> threads) {
  return Judge().Run(threads);
}

}  // namespace schedq
