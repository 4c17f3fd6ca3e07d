// Goal: the judge of whole histories says what the search through all orders says, and finds each
// kind of fault.
// Method: random histories of up to nine calls, drawn from a right queue and then damaged half of
// the time, are judged by both; each of the two answers must be frequent. Each kind of fault is
// also made by hand, and a large right history is judged as a whole.
#include "tests/support/checkers/priority_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "tests/support/checkers/timed_calls.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"

namespace schedq {
namespace {

using Kind = TimedCall::Kind;
using Calls = std::vector<TimedCall>;

PriorityVerdict JudgeCalls(const Calls& calls) {
  const std::vector<const Calls*> threads = {&calls};
  return JudgePriorityHistory(threads);
}

// The same queue for the search: a pop's own ticket is an argument, since equal keys may go in any
// order.
struct QueueSpec {
  using Key = std::tuple<int32_t, int64_t, uint64_t>;  // In the order of pops.
  static Key KeyOf(const ActiveEntry& entry) {
    return {-entry.priority, entry.timestamp_ns, entry.ticket};
  }
  static ActiveEntry EntryOf(const Key& key) {
    return {-std::get<0>(key), std::get<1>(key), std::get<2>(key)};
  }
  struct State {
    std::set<Key> there;
    std::set<uint64_t> pushed;
    auto operator<=>(const State&) const = default;
  };
  using Operation = TimedCall;
  using Result = bool;  // Whether the call may do what it did.

  static bool Apply(State& state, const TimedCall& call) {
    switch (call.kind) {
      case Kind::kPush:
        state.there.insert(KeyOf(call.entry));
        return state.pushed.insert(call.entry.ticket).second;
      case Kind::kPop: {
        if (!state.there.contains(KeyOf(call.entry))) return false;
        const bool is_best = !GoesBefore(EntryOf(*state.there.begin()), call.entry);
        state.there.erase(KeyOf(call.entry));
        return is_best;
      }
      case Kind::kPopNothing:
        return state.there.empty();
      case Kind::kRemove:
        std::erase_if(state.there,
                      [&](const Key& key) { return std::get<2>(key) == call.entry.ticket; });
        return state.pushed.contains(call.entry.ticket);
    }
    return false;
  }
  static std::string Describe(const TimedCall& call) {
    static constexpr std::array<const char*, 4> kNames = {"push", "pop", "pop of nothing",
                                                          "remove"};
    return std::string(kNames[static_cast<size_t>(call.kind)]) + " " +
           std::to_string(call.entry.ticket) + " priority " + std::to_string(call.entry.priority) +
           " timestamp " + std::to_string(call.entry.timestamp_ns);
  }
  static std::string Describe(bool) { return "done"; }
};

// Each call is a thread of its own, so that time alone orders them.
Linearizability Search(const Calls& calls) {
  std::vector<Call<QueueSpec, RealTime>> history;
  for (const TimedCall& call : calls) {
    const bool is_pending = call.responded_ns == TimedCall::kPending;
    history.push_back({static_cast<uint32_t>(history.size()),
                       call,
                       is_pending ? std::nullopt : std::optional<bool>(true),
                       {call.invoked_ns},
                       {call.responded_ns}});
  }
  return CheckLinearizable<QueueSpec>(history);
}

// Draws small histories.
class HistoryMaker {
 public:
  explicit HistoryMaker(uint64_t seed) : random_(seed) {}

  // Each call takes effect at an instant of its own; the times around it are drawn small, so that
  // calls overlap and times are equal.
  Calls Right() {
    Calls calls;
    QueueSpec::State state;
    std::vector<ActiveEntry> removable;
    const uint64_t count = 4 + random_.Below(6);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t instant = 10 + 4 * i;
      TimedCall call = Next(&state, &removable);
      call.invoked_ns = instant - random_.Below(7);
      call.responded_ns = instant + random_.Below(7);
      const bool may_pend = call.kind == Kind::kPush && random_.Below(8) == 0;
      if (may_pend) call.responded_ns = TimedCall::kPending;
      calls.push_back(call);
    }
    return calls;
  }
  void Damage(Calls* calls) {
    const auto any = [&]() -> TimedCall& { return (*calls)[random_.Below(calls->size())]; };
    switch (random_.Below(4)) {
      case 0: {
        TimedCall& call = any();
        if (call.responded_ns != TimedCall::kPending) call.responded_ns += 15;
        call.invoked_ns += 15;
        break;
      }
      case 1:
        SwapTimes(&any(), &any());
        break;
      case 2: {
        TimedCall& call = any();
        if (call.kind == Kind::kPop) call.kind = Kind::kPopNothing;
        break;
      }
      default:
        ChangePriority(calls, any().entry.ticket);
    }
  }

 private:
  TimedCall Next(QueueSpec::State* state, std::vector<ActiveEntry>* removable) {
    const uint64_t kind = random_.Below(8);
    if (kind < 4) {
      const ActiveEntry entry{static_cast<int32_t>(random_.Below(3)),
                              static_cast<int64_t>(random_.Below(2)), state->pushed.size() + 1};
      removable->push_back(entry);
      state->there.insert(QueueSpec::KeyOf(entry));
      state->pushed.insert(entry.ticket);
      return {0, 0, entry, Kind::kPush};
    }
    if (kind == 4 && !removable->empty()) {  // It may have been popped before.
      const ActiveEntry entry = removable->back();
      removable->pop_back();
      state->there.erase(QueueSpec::KeyOf(entry));
      return {0, 0, {0, 0, entry.ticket}, Kind::kRemove};
    }
    if (state->there.empty()) return {0, 0, {}, Kind::kPopNothing};
    const ActiveEntry best = QueueSpec::EntryOf(*state->there.begin());
    state->there.erase(state->there.begin());
    return {0, 0, best, Kind::kPop};
  }
  static void SwapTimes(TimedCall* one, TimedCall* other) {
    if (one->responded_ns == TimedCall::kPending || other->responded_ns == TimedCall::kPending) {
      return;
    }
    std::swap(one->invoked_ns, other->invoked_ns);
    std::swap(one->responded_ns, other->responded_ns);
  }
  void ChangePriority(Calls* calls, uint64_t ticket) {
    const auto priority = static_cast<int32_t>(random_.Below(3));
    for (TimedCall& call : *calls) {
      if (call.entry.ticket == ticket) call.entry.priority = priority;
    }
  }

  Random random_;
};

TEST(PriorityJudge, SaysWhatTheSearchSays) {
  constexpr int kHistories = 100'000;
  HistoryMaker maker(1);
  Random random(2);
  int refused = 0;
  for (int i = 0; i < kHistories; ++i) {
    Calls calls = maker.Right();
    const bool is_damaged = random.Below(2) == 0;
    for (uint64_t left = is_damaged ? 1 + random.Below(4) : 0; left > 0; --left) {
      maker.Damage(&calls);
    }
    const PriorityVerdict verdict = JudgeCalls(calls);
    const Linearizability searched = Search(calls);
    ASSERT_EQ(verdict.holds, searched.holds)
        << "history " << i << ": " << verdict.explanation << searched.explanation;
    if (!is_damaged) {
      ASSERT_TRUE(verdict.holds) << verdict.explanation;
    }
    refused += verdict.holds ? 0 : 1;
  }
  EXPECT_GT(refused, kHistories / 10);
  EXPECT_LT(refused, kHistories / 2);
}

// A call from `begin` to `end`.
TimedCall Push(uint64_t begin, uint64_t end, int32_t priority, uint64_t ticket) {
  return {begin, end, {priority, 0, ticket}, Kind::kPush};
}
TimedCall Pop(uint64_t begin, uint64_t end, int32_t priority, uint64_t ticket) {
  return {begin, end, {priority, 0, ticket}, Kind::kPop};
}
TimedCall PopNothing(uint64_t begin, uint64_t end) { return {begin, end, {}, Kind::kPopNothing}; }
TimedCall Remove(uint64_t begin, uint64_t end, uint64_t ticket) {
  return {begin, end, {0, 0, ticket}, Kind::kRemove};
}

void ExpectRefused(const Calls& calls, const std::string& why) {
  const PriorityVerdict verdict = JudgeCalls(calls);
  EXPECT_FALSE(verdict.holds) << why;
  EXPECT_NE(verdict.explanation.find(why), std::string::npos) << verdict.explanation;
}
void ExpectAccepted(const Calls& calls) {
  const PriorityVerdict verdict = JudgeCalls(calls);
  EXPECT_TRUE(verdict.holds) << verdict.explanation;
}

TEST(PriorityJudge, FindsALowerPriorityThatIsPoppedFirst) {
  ExpectRefused({Push(1, 2, 2, 20), Push(3, 4, 1, 10), Pop(5, 6, 1, 10)}, "better one was there");
  ExpectAccepted({Push(1, 6, 2, 20), Push(3, 4, 1, 10), Pop(5, 6, 1, 10)});
  ExpectAccepted({Push(1, 2, 2, 20), Push(3, 4, 1, 10), Pop(5, 6, 1, 10), Pop(5, 9, 2, 20)});
  ExpectAccepted({Push(1, 2, 1, 20), Push(3, 4, 1, 10), Pop(5, 6, 1, 10)});
}

// Three better entries follow each other, and each is there for a part of the time only.
TEST(PriorityJudge, FindsBetterOnesThatTakeTurns) {
  const Calls better = {Push(1, 2, 2, 20), Push(4, 5, 3, 30), Pop(6, 20, 2, 20),
                        Push(7, 8, 2, 21), Pop(9, 20, 3, 30), Push(0, 0, 1, 10)};
  Calls calls = better;
  calls.push_back(Pop(3, 10, 1, 10));
  ExpectRefused(calls, "better one was there all the time");
  calls = better;
  calls[2] = Pop(5, 20, 2, 20);
  calls.push_back(Pop(3, 10, 1, 10));
  ExpectAccepted(calls);  // At 5 one is gone, and the other has not come.
}

TEST(PriorityJudge, FindsAnEmptyPopWhileSomethingIsThere) {
  ExpectRefused({Push(1, 2, 1, 10), PopNothing(3, 4), Pop(5, 6, 1, 10)}, "nothing was popped");
  ExpectRefused({Push(1, 2, 1, 10), PopNothing(3, 4)}, "nothing was popped");
  ExpectAccepted({Push(1, 3, 1, 10), PopNothing(3, 4), Pop(5, 6, 1, 10)});
  ExpectAccepted({Push(1, 2, 1, 10), PopNothing(3, 4), Pop(4, 6, 1, 10)});
}

TEST(PriorityJudge, FindsDoubledAndInventedTickets) {
  ExpectRefused({Push(1, 2, 1, 10), Pop(3, 4, 1, 10), Pop(5, 6, 1, 10)}, "popped twice");
  ExpectRefused({Push(1, 2, 1, 10), Push(3, 4, 1, 10)}, "pushed twice");
  ExpectRefused({Pop(3, 4, 1, 10)}, "never pushed");
  ExpectRefused({Pop(1, 2, 1, 10), Push(3, 4, 1, 10)}, "popped before it was pushed");
  ExpectRefused({Push(1, 2, 1, 10), Pop(3, 4, 2, 10)}, "popped as");
}

// Lost is an entry that nobody pops although a pop that comes later finds nothing, or a worse one.
TEST(PriorityJudge, FindsALostTicket) {
  ExpectRefused({Push(1, 2, 1, 10), Push(1, 2, 2, 20), Pop(3, 4, 2, 20), PopNothing(5, 6)},
                "ticket 10");
  ExpectRefused({Push(1, 2, 3, 10), Push(1, 2, 2, 20), Pop(3, 4, 2, 20)}, "ticket 10");
}

TEST(PriorityJudge, KnowsRemovals) {
  ExpectAccepted({Push(1, 2, 1, 10), Remove(3, 4, 10), PopNothing(4, 5)});
  ExpectRefused({Push(1, 2, 1, 10), PopNothing(3, 3), Remove(4, 5, 10)}, "nothing was popped");
  ExpectRefused({Push(1, 2, 1, 10), Remove(3, 4, 10), Pop(5, 6, 1, 10)}, "after it was removed");
  ExpectAccepted({Push(1, 2, 1, 10), Pop(3, 4, 1, 10), Remove(5, 6, 10)});
}

// The search could not judge this one.
TEST(PriorityJudge, JudgesALongHistoryAndTheFaultInIt) {
  constexpr uint64_t kEntries = 100'000;
  Calls calls;
  Random random(3);
  std::vector<int32_t> priorities;
  for (uint64_t i = 0; i < kEntries; ++i) {
    priorities.push_back(static_cast<int32_t>(random.Below(1'000'000)));
    calls.push_back(Push(i, i + 5, priorities[i], i));
  }
  std::vector<uint64_t> order(kEntries);
  for (uint64_t i = 0; i < kEntries; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](uint64_t left, uint64_t right) { return priorities[left] > priorities[right]; });
  for (uint64_t i = 0; i < kEntries; ++i) {
    // Each worse one of a pair begins to be popped a little before the better one.
    const uint64_t begin = kEntries + 10 + 2 * (i ^ 1);
    calls.push_back(Pop(begin, begin + 5, priorities[order[i]], order[i]));
  }
  const PriorityVerdict right = JudgeCalls(calls);
  EXPECT_TRUE(right.holds) << right.explanation;
  EXPECT_EQ(right.pops, kEntries);
  EXPECT_GT(right.pops_confined, kEntries / 10);
  // One that comes late by much more than calls overlap.
  TimedCall& early = calls[kEntries + 100];
  TimedCall& late = calls[kEntries + 50'000];
  std::swap(early.invoked_ns, late.invoked_ns);
  std::swap(early.responded_ns, late.responded_ns);
  EXPECT_FALSE(JudgeCalls(calls).holds);
}

}  // namespace
}  // namespace schedq
