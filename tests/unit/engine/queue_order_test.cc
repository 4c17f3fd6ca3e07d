// docs/semantics.md, "Order" and "Backoff": which pod comes first, how long a pod backs off, and
// where a window ends. Method: every engine in both states of both gates, on the virtual clock,
// against orders and durations worked out by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/backoff.h"
#include "engine/base/time/maybe_instant.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(BackoffPolicy, DoublesUpToTheMaximum) {
  const BackoffPolicy policy;
  const std::vector<int> expected_s = {0, 1, 2, 4, 8, 10, 10};
  for (size_t count = 0; count < expected_s.size(); ++count) {
    EXPECT_EQ(policy.DurationFor(count), seconds(expected_s[count])) << count;
  }
}

TEST(BackoffPolicy, DoesNotOverflow) {
  const BackoffPolicy policy;
  for (const uint32_t count : {40u, 63u, 64u, 65u, 1000u, ~0u}) {
    EXPECT_EQ(policy.DurationFor(count), seconds(10)) << count;
  }
  const BackoffPolicy widest{.initial = Duration(1), .maximum = Duration::max()};
  EXPECT_EQ(widest.DurationFor(63), Duration(int64_t{1} << 62));
  EXPECT_EQ(widest.DurationFor(64), Duration::max());
}

TEST(BackoffPolicy, LongestBackoffEndsAtTheEndOfTime) {
  const BackoffPolicy widest{.initial = Duration(1), .maximum = Duration::max()};
  for (const bool windows : {false, true}) {
    QueueingFields fields;
    fields.timestamp = Instant(seconds(1767225600));
    fields.unschedulable_count = 64;
    const MaybeInstant expiration = widest.ExpirationOf(&fields, windows);
    ASSERT_TRUE(expiration);
    EXPECT_GT(*expiration, fields.timestamp);
    EXPECT_EQ(*expiration, windows ? TruncateToSecond(Instant::max()) : Instant::max());
  }
}

TEST(BackoffPolicy, InitialAboveMaximumGivesTheMaximum) {
  const BackoffPolicy policy{.initial = seconds(20), .maximum = seconds(10)};
  EXPECT_EQ(policy.DurationFor(1), seconds(10));
}

TEST(BackoffPolicy, ErrorsCountBeforeRejections) {
  const BackoffPolicy policy;
  QueueingFields fields;
  fields.unschedulable_count = 4;
  fields.consecutive_errors = 1;
  EXPECT_EQ(policy.ExpirationOf(&fields, false), fields.timestamp + seconds(1));
}

TEST(BackoffPolicy, ExpirationIsKeptUntilCleared) {
  const BackoffPolicy policy;
  QueueingFields fields;
  fields.unschedulable_count = 1;
  const auto first = policy.ExpirationOf(&fields, false);
  fields.unschedulable_count = 4;
  EXPECT_EQ(policy.ExpirationOf(&fields, false), first);
}

class QueueOrder : public QueueTest {};
INSTANTIATE_TEST_SUITE_P(Engines, QueueOrder, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueOrder, ActiveIsHigherPriorityThenOlder) {
  QueueBench bench(Options());
  for (const auto& [name, priority] : {std::pair("young-low", 1), std::pair("low", 0),
                                       std::pair("high", 9), std::pair("high-later", 9)}) {
    bench.Add(MakePod(name, priority));
    bench.Advance(milliseconds(1));
  }
  for (const char* expected : {"high", "high-later", "young-low", "low"}) {
    EXPECT_EQ(bench.MustPop().pod->name, expected);
  }
}

TEST_P(QueueOrder, NegativePriorityComesLast) {
  QueueBench bench(Options());
  bench.Add(MakePod("negative", -5));
  bench.Advance(milliseconds(1));
  bench.Add(MakePod("zero", 0));
  EXPECT_EQ(bench.MustPop().pod->name, "zero");
}

// Two pods of one window: the one that expires later has the higher priority.
TEST_P(QueueOrder, BackoffOrdersWindowsByPriority) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  bench.Advance(milliseconds(700));  // A whole second: both expire in the second that begins now.
  bench.AddRejected(MakePod("low", 0), {"Fit"});
  bench.Advance(milliseconds(100));
  bench.AddRejected(MakePod("high", 5), {"Fit"});
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("low"), PopsFromBackoff() ? "backoff@1700" : "backoff@1700");
  EXPECT_EQ(bench.PlaceOf("high"), PopsFromBackoff() ? "backoff@1700" : "backoff@1800");
  if (PopsFromBackoff()) {
    EXPECT_EQ(bench.MustPop().pod->name, "high");
    EXPECT_EQ(bench.MustPop().pod->name, "low");
  } else {
    EXPECT_FALSE(bench.queue().TryPop().has_value());
    bench.Advance(milliseconds(950));  // Between the two exact expirations.
    bench.queue().FlushBackoff();
    EXPECT_EQ(bench.PlaceOf("low"), "active");
    EXPECT_EQ(bench.PlaceOf("high"), "backoff@1800");
  }
}

TEST_P(QueueOrder, EarlierWindowComesBeforeHigherPriority) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  bench.AddRejected(MakePod("early", 0), {"Fit"});
  bench.Advance(seconds(1));
  bench.AddRejected(MakePod("late", 9), {"Fit"});
  bench.Add(MakePod("other", 0));  // So that neither is backing off alone in an empty queue.
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.MustPop().pod->name, "other");
  if (!PopsFromBackoff()) {
    EXPECT_FALSE(bench.queue().TryPop().has_value());
    return;
  }
  EXPECT_EQ(bench.MustPop().pod->name, "early");
  EXPECT_EQ(bench.MustPop().pod->name, "late");
}

// An entity of the current window still waits.
TEST_P(QueueOrder, BackoffEndsWithItsWindow) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  bench.AddRejected(MakePod("pod"), {"Fit"});  // At .3 s; expires at 1.3 s, window of second 1.
  const auto place_after_event_at = [&](milliseconds elapsed) {
    bench.Advance(elapsed - milliseconds(bench.ElapsedMs()));
    Send(bench, Resource::kNode, Action::kAdd);
    return bench.PlaceOf("pod");
  };
  if (PopsFromBackoff()) {
    // Second 1 of absolute time ends 1,700 ms after the start at .3 s.
    EXPECT_EQ(place_after_event_at(milliseconds(1699)), "backoff@700");
  } else {
    EXPECT_EQ(place_after_event_at(milliseconds(1000)), "backoff@1000");
  }
}

// More than are moved at once, some of which have gone or have another priority meanwhile.
TEST_P(QueueOrder, FlushMovesManyOfAWindowInOrder) {
  QueueBench bench(Options({HintPlugin("Filter", {On(Resource::kNode, Action::kAdd)})}));
  constexpr size_t kPods = 400;
  std::vector<PodRef> pods;
  for (size_t i = 0; i < kPods; ++i) {
    pods.push_back(MakePod("pod-" + std::to_string(i), static_cast<int32_t>(i % 3)));
  }
  for (const PodRef& pod : pods) {
    bench.AddRejected(pod, {"Filter"});
    bench.Advance(std::chrono::microseconds(100));
  }
  Send(bench, Resource::kNode, Action::kAdd);
  ASSERT_EQ(bench.queue().Counts().backoff, kPods);
  for (size_t i = 0; i < kPods; i += 7) bench.Delete(pods[i]);
  for (size_t i = 1; i < kPods; i += 7) bench.Update(pods[i], MakePod(pods[i]->name, 3));
  const uint64_t left = bench.queue().Counts().backoff;
  bench.Advance(std::chrono::seconds(3));
  bench.queue().FlushBackoff();
  EXPECT_EQ(bench.queue().Counts().backoff, 0u);
  EXPECT_EQ(bench.queue().Counts().active, left);
  EXPECT_EQ(bench.Incoming(Place::kActive, SpecialLabel::kBackoffComplete), left);
  PoppedPod previous = bench.MustPop();
  EXPECT_EQ(previous.pod->priority, 3);
  for (uint64_t i = 1; i < left; ++i) {
    PoppedPod next = bench.MustPop();
    EXPECT_LE(next.pod->priority, previous.pod->priority);
    if (next.pod->priority == previous.pod->priority) {
      EXPECT_GT(next.fields.timestamp, previous.fields.timestamp);
    }
    previous = std::move(next);
  }
  EXPECT_FALSE(bench.queue().TryPop());
}

TEST_P(QueueOrder, BackoffIsOverAfterItsWindow) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  bench.AddRejected(MakePod("pod"), {"Fit"});
  bench.Advance(PopsFromBackoff() ? milliseconds(1700) : milliseconds(1001));
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

TEST_P(QueueOrder, MaximumOfZeroTurnsBackoffOff) {
  QueueBenchOptions options = Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})});
  options.backoff.maximum = Duration::zero();
  QueueBench bench(std::move(options));
  bench.AddRejected(MakePod("pod"), {"Fit"});
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(bench.PlaceOf("pod"), "active");
}

TEST_P(QueueOrder, RepeatedFailuresBackOffLonger) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  bench.Advance(milliseconds(700));  // A whole second, so that truncation changes nothing.
  bench.Add(MakePod("pod"));
  for (const int expected_s : {1, 2, 4, 8, 10, 10}) {
    ASSERT_TRUE(bench.Fail(bench.MustPop(), {"Fit"}).ok());
    Send(bench, Resource::kNode, Action::kAdd);
    const int64_t expiration_ms = bench.ElapsedMs() + 1000 * expected_s;
    EXPECT_EQ(bench.PlaceOf("pod"), "backoff@" + std::to_string(expiration_ms));
    bench.Advance(seconds(expected_s + 1));
    bench.queue().FlushBackoff();
  }
}

TEST_P(QueueOrder, ErrorBackoffIsKeptApart) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  bench.AddRejected(MakePod("error", 100), {});
  EXPECT_EQ(bench.PlaceOf("error").substr(0, 14), "error-backoff@");
  EXPECT_FALSE(bench.queue().TryPop().has_value()) << "error backoff is never cut short";
  bench.Advance(seconds(2));
  bench.queue().FlushBackoff();
  EXPECT_EQ(bench.MustPop().pod->name, "error");
}

}  // namespace
}  // namespace schedq
