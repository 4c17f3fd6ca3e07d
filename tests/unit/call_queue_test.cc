// Goal: the call queue keeps its rules: what merges, overwrites and is skipped, what goes first and
// when, and that every call ends exactly once.
// Method: each rule has a test on a virtual clock in which the test is the server; then random
// programs are compared, step by step, with a reference of a few plain lines.
#include "dispatcher/call_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "engine/base/metrics.h"
#include "engine/base/random.h"
#include "engine/base/virtual_clock.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Ended = EndRecorder::Ended;
using Ends = std::vector<Ended>;

constexpr Duration kDelay = seconds(5);

class CallQueueTest : public testing::Test, public CallWaker {
 protected:
  void WakeBy(Instant at) override { wake_ = std::min(wake_, at); }

  void Make(CallQueueOptions options) {
    options.clock = &clock_;
    options.waker = this;
    options.metrics = &metrics_;
    queue_ = std::make_unique<CallQueue<>>(options);
  }
  void SetUp() override { Make({.calls_per_second = 0}); }

  CallDraft Draft(ObjectId object, uint64_t tag, Duration delay = {}) {
    return {object, tag, delay, UnmarkedPod(), &recorder_};
  }
  // Advances the clock and dispatches; the tags of what started.
  std::vector<uint64_t> DispatchAfter(Duration duration) {
    clock_.AdvanceBy(duration);
    std::vector<uint64_t> started;
    next_ = *queue_->Dispatch(clock_.Now(), [&](const ApiCall& call) {
      started.push_back(call.tag);
      sent_[call.object] = call;
    });
    return started;
  }
  std::vector<uint64_t> Dispatch() { return DispatchAfter(Duration(0)); }

  VirtualClock clock_{Instant(seconds(1000))};
  MetricsRegistry metrics_;
  EndRecorder recorder_;
  Instant wake_ = Instant::max();
  Instant next_ = Instant::max();
  std::map<ObjectId, ApiCall> sent_;
  std::unique_ptr<CallQueue<>> queue_;
};

TEST_F(CallQueueTest, DelayedCallStartsAtItsDeadline) {
  queue_->Add(SetMessage(Draft(3, 1, kDelay), "waits"));
  EXPECT_EQ(wake_, clock_.Now() + kDelay);
  EXPECT_TRUE(Dispatch().empty());
  EXPECT_LE(next_, clock_.Now() + kDelay);
  EXPECT_TRUE(DispatchAfter(kDelay - milliseconds(1)).empty());
  EXPECT_EQ(DispatchAfter(milliseconds(1)), std::vector<uint64_t>{1});
  EXPECT_TRUE(recorder_.Take().empty()) << "in flight";
  queue_->Complete(3, Status());
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kSuccess}}));
}

TEST_F(CallQueueTest, NewerConditionReplacesAndTheDeadlineStays) {
  queue_->Add(SetMessage(Draft(0, 1, kDelay), "first"));
  clock_.AdvanceBy(seconds(4));
  queue_->Add(SetMessage(Draft(0, 2, kDelay), "second"));
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kOverwritten}}));
  EXPECT_EQ(DispatchAfter(seconds(1)), std::vector<uint64_t>{2});
  EXPECT_EQ(sent_[0].condition.message, "second");
}

TEST_F(CallQueueTest, UndelayedCallMakesADelayedOneDue) {
  queue_->Add(SetMessage(Draft(0, 1, kDelay), "message"));
  Dispatch();
  queue_->Add(NominateNode(Draft(0, 2), "node"));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  EXPECT_EQ(sent_[0].condition.message, "message") << "merged";
  EXPECT_EQ(*sent_[0].nomination(), "node");
  EXPECT_TRUE(sent_[0].sends_event);
}

TEST_F(CallQueueTest, NominationStaysUnlessThereIsANewerOne) {
  queue_->Add(NominateNode(Draft(0, 1, kDelay), "first"));
  queue_->Add(SetMessage(Draft(0, 2, kDelay), "message"));
  queue_->Add(NominateNode(Draft(0, 3, kDelay), "second"));
  DispatchAfter(kDelay);
  EXPECT_EQ(*sent_[0].nomination(), "second");
  EXPECT_EQ(sent_[0].condition.message, "message");
}

TEST_F(CallQueueTest, SetAndClearCancelOut) {
  queue_->Add(SetMessage(Draft(0, 1, kDelay), "message"));
  queue_->Add(ClearMessage(Draft(0, 2, kDelay)));
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kOverwritten}, {2, CallEnd::kSkipped}}));
  EXPECT_TRUE(DispatchAfter(kDelay).empty());
}

TEST_F(CallQueueTest, ClearAndSetOfWhatIsShownCancelOut) {
  CallDraft clear = Draft(0, 1, kDelay);
  CallDraft set = Draft(0, 2, kDelay);
  clear.pod = set.pod = MarkedPod("message");
  queue_->Add(ClearMessage(clear));
  queue_->Add(SetMessage(set, "message"));
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kOverwritten}, {2, CallEnd::kSkipped}}));
}

TEST_F(CallQueueTest, ClearTouchesOnlyItsOwnReason) {
  CallDraft clear = Draft(0, 1);
  clear.pod = MarkedPod("no node fits", "Unschedulable");
  queue_->Add(ClearMessage(clear));
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kSkipped}}));
}

TEST_F(CallQueueTest, SyncMakesAWaitingCallANoOp) {
  queue_->Add(SetMessage(Draft(0, 1, kDelay), "message"));
  queue_->Sync(0, MarkedPod("another"));
  EXPECT_TRUE(recorder_.Take().empty());
  queue_->Sync(0, MarkedPod("message"));
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kSkipped}}));
  queue_->Sync(999, MarkedPod("message"));  // Never called about: nothing.
}

TEST_F(CallQueueTest, MoreRelevantOverwritesAndLessRelevantIsSkipped) {
  queue_->Add(SetMessage(Draft(0, 1, kDelay), "message"));
  queue_->Add(CallOf(Draft(0, 2), CallType::kDeletion));
  queue_->Add(SetMessage(Draft(0, 3), "message"));
  queue_->Add(BindTo(Draft(0, 4), "node"));
  EXPECT_EQ(recorder_.Take(),
            (Ends{{1, CallEnd::kOverwritten}, {3, CallEnd::kSkipped}, {2, CallEnd::kOverwritten}}));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{4});
  queue_->Add(SetMessage(Draft(0, 5), "message"));
  EXPECT_EQ(recorder_.Take(), (Ends{{5, CallEnd::kSkipped}})) << "a binding is in flight";
}

TEST_F(CallQueueTest, WhatComesDuringAFlightWaitsAndIsJudgedAtItsEnd) {
  queue_->Add(SetMessage(Draft(0, 1), "message"));
  Dispatch();
  queue_->Add(SetMessage(Draft(0, 2), "message"));
  EXPECT_TRUE(Dispatch().empty()) << "one in flight an object";
  EXPECT_TRUE(recorder_.Take().empty());
  queue_->Complete(0, Status());
  EXPECT_EQ(recorder_.Take(), (Ends{{2, CallEnd::kSkipped}, {1, CallEnd::kSuccess}}));
}

TEST_F(CallQueueTest, AfterAFailedFlightTheWaitingCallCarriesItsContent) {
  queue_->Add(NominateNode(Draft(0, 1), "node"));
  Dispatch();
  queue_->Add(SetMessage(Draft(0, 2), "message"));
  queue_->Complete(0, Error("unavailable"));
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kError}}));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  EXPECT_EQ(*sent_[0].nomination(), "node");
}

TEST_F(CallQueueTest, ClearAfterASentSetGoesOut) {
  queue_->Add(SetMessage(Draft(0, 1), "message"));
  Dispatch();
  queue_->Add(ClearMessage(Draft(0, 2, kDelay)));
  queue_->Complete(0, Status());
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{2});
}

// The pod passes after its message was stored and before anybody has seen it there.
TEST_F(CallQueueTest, ClearIsNoNoOpBeforeTheSetWasSeen) {
  queue_->Add(SetMessage(Draft(0, 1), "message"));
  Dispatch();
  queue_->Complete(0, Status());
  queue_->Add(ClearMessage(Draft(0, 2, kDelay)));
  queue_->Sync(0, UnmarkedPod());  // An older version.
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kSuccess}}));
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{2});
}

TEST_F(CallQueueTest, SeenEffectsAreJudgedByWhatIsSeen) {
  queue_->Add(SetMessage(Draft(0, 1), "message"));
  Dispatch();
  queue_->Complete(0, Status());
  queue_->Add(SetMessage(Draft(0, 2), "message"));
  queue_->Sync(0, MarkedPod("message"));
  queue_->Add(SetMessage(Draft(0, 3, kDelay), "message"));  // Somebody removed it meanwhile.
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kSuccess}, {2, CallEnd::kSkipped}}));
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{3});
}

TEST_F(CallQueueTest, BindingsGoFirstThenDeletionsThenPatches) {
  queue_->Add(SetMessage(Draft(0, 1), "message"));
  queue_->Add(CallOf(Draft(1, 2), CallType::kDeletion));
  queue_->Add(BindTo(Draft(2, 3), "node"));
  queue_->Add(SetMessage(Draft(3, 4), "message"));
  queue_->Add(BindTo(Draft(4, 5), "node"));
  EXPECT_EQ(Dispatch(), (std::vector<uint64_t>{3, 5, 2, 1, 4}));
}

TEST_F(CallQueueTest, PatchesKeepTheirShare) {
  Make({.in_flight_max = 1000, .calls_per_second = 0, .patch_share = 3});
  for (ObjectId object = 0; object < 9; ++object) queue_->Add(BindTo(Draft(object, 1), "node"));
  for (ObjectId object = 9; object < 12; ++object) {
    queue_->Add(SetMessage(Draft(object, 2), "message"));
  }
  EXPECT_EQ(Dispatch(), (std::vector<uint64_t>{1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2}));
}

TEST_F(CallQueueTest, CallsInFlightAreBounded) {
  Make({.in_flight_max = 2, .calls_per_second = 0});
  for (ObjectId object = 0; object < 5; ++object) queue_->Add(BindTo(Draft(object, object), "n"));
  EXPECT_EQ(Dispatch(), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(next_, Instant::max());
  wake_ = Instant::max();
  queue_->Complete(1, Status());
  EXPECT_LE(wake_, clock_.Now()) << "there is room, and somebody wanted it";
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  EXPECT_EQ(queue_->InFlight(), 2u);
}

TEST_F(CallQueueTest, RateIsBoundedAfterTheBurst) {
  Make({.in_flight_max = 1000, .calls_per_second = 50, .burst = 3});
  for (ObjectId object = 0; object < 100; ++object) queue_->Add(BindTo(Draft(object, 0), "n"));
  EXPECT_EQ(Dispatch().size(), 3u);
  EXPECT_EQ(next_, clock_.Now() + milliseconds(20));
  EXPECT_EQ(DispatchAfter(milliseconds(19)).size(), 0u);
  EXPECT_EQ(DispatchAfter(milliseconds(1)).size(), 1u);
  size_t started = 0;
  for (int tick = 0; tick < 1000; ++tick) started += DispatchAfter(milliseconds(1)).size();
  EXPECT_EQ(started, 50u);
}

TEST_F(CallQueueTest, CancelledCallNeverStarts) {
  queue_->Add(SetMessage(Draft(0, 1), "message"));
  queue_->Cancel(0);
  queue_->Cancel(0);
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kSkipped}}));
  EXPECT_TRUE(Dispatch().empty());
  queue_->Add(SetMessage(Draft(0, 2, kDelay), "message"));
  EXPECT_TRUE(Dispatch().empty()) << "it does not inherit the turn of the cancelled one";
  EXPECT_EQ(DispatchAfter(kDelay), std::vector<uint64_t>{2});
}

TEST_F(CallQueueTest, CloseEndsWhatWaitsAndRefusesTheRest) {
  queue_->Add(BindTo(Draft(0, 1), "node"));
  Dispatch();
  queue_->Add(BindTo(Draft(0, 2), "other"));
  queue_->Add(SetMessage(Draft(70'000, 3, kDelay), "message"));
  queue_->Close();
  queue_->Add(SetMessage(Draft(5, 4), "message"));
  EXPECT_EQ(recorder_.Take(),
            (Ends{{2, CallEnd::kSkipped}, {3, CallEnd::kSkipped}, {4, CallEnd::kSkipped}}));
  queue_->Complete(0, Status());
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kSuccess}}));
  EXPECT_TRUE(DispatchAfter(kDelay).empty());
}

TEST_F(CallQueueTest, DestructionEndsWhatIsInFlight) {
  queue_->Add(BindTo(Draft(0, 1), "node"));
  Dispatch();
  queue_.reset();
  EXPECT_EQ(recorder_.Take(), (Ends{{1, CallEnd::kError}}));
}

TEST_F(CallQueueTest, ListenerMayUseTheQueueForTheSameObject) {
  class Repeating final : public CallListener {
   public:
    explicit Repeating(CallQueue<>* queue) : queue_(queue) {}
    void OnEnd(const ApiCall& call, CallEnd end, const Status&) override {
      if (end != CallEnd::kError) return;
      queue_->Add(SetMessage({call.object, call.tag + 1, {}, call.pod, this}, "again"));
    }

   private:
    CallQueue<>* queue_;
  } repeating(queue_.get());
  CallDraft draft = Draft(0, 1);
  draft.listener = &repeating;
  queue_->Add(SetMessage(draft, "message"));
  Dispatch();
  queue_->Complete(0, Error("unavailable"));
  EXPECT_EQ(Dispatch(), std::vector<uint64_t>{2});
  queue_->Complete(0, Status());
}

TEST_F(CallQueueTest, MetricsSayWhatIsPendingAndWhatWasExecuted) {
  queue_->Add(BindTo(Draft(0, 1), "node"));
  queue_->Add(SetMessage(Draft(1, 2, kDelay), "message"));
  EXPECT_EQ(metrics_.Value("scheduler_pending_async_api_calls", {"pod_status_patch"}), 1);
  Dispatch();
  clock_.AdvanceBy(milliseconds(10));
  queue_->Complete(0, Error("conflict"));
  EXPECT_EQ(metrics_.Value("scheduler_pending_async_api_calls", {"pod_binding"}), 0);
  const LabelValues failed = {"pod_binding", "error"};
  EXPECT_EQ(metrics_.Value("scheduler_async_api_call_execution_total", failed), 1);
  const auto durations =
      metrics_.HistogramAt("scheduler_async_api_call_execution_duration_seconds", failed);
  EXPECT_EQ(durations->sum, 0.01);
}

// --- Random programs ---

// The rules in plain lines: one object, the deadline in milliseconds.
struct ReferenceObject {
  struct Waiting {
    ApiCall call;
    int64_t due;
  };
  std::optional<Waiting> waiting;
  std::optional<ApiCall> in_flight;
  std::optional<ApiCall> unseen;

  bool IsNoOpNow() const {
    return unseen ? IsNoOpAfter(*unseen, waiting->call) : IsNoOp(waiting->call);
  }
  void See(const PodRef& pod, Ends* ends) {
    if (unseen) unseen->pod = pod;
    if (unseen && IsNoOp(*unseen)) unseen.reset();
    if (waiting) waiting->call.pod = pod;
    DropNoOp(ends);
  }
  void Add(const ApiCall& call, int64_t now, Ends* ends) {
    if ((waiting && IsLessRelevant(call.type, waiting->call.type)) ||
        (in_flight && IsLessRelevant(call.type, in_flight->type))) {
      ends->push_back({call.tag, CallEnd::kSkipped});
      return;
    }
    Waiting next{call, call.delay == Duration(0) ? 0 : now + call.delay / milliseconds(1)};
    if (waiting && waiting->call.type == call.type) {
      Merge(waiting->call, &next.call);
      next.due = std::min(next.due, waiting->due);
    } else if (!waiting && in_flight && in_flight->type == call.type) {
      Merge(*in_flight, &next.call);
    }
    if (waiting) ends->push_back({waiting->call.tag, CallEnd::kOverwritten});
    waiting = std::move(next);
    DropNoOp(ends);
  }
  void DropNoOp(Ends* ends) {
    if (waiting && !in_flight && IsNoOpNow()) Skip(ends);
  }
  void Skip(Ends* ends) {
    if (waiting) ends->push_back({waiting->call.tag, CallEnd::kSkipped});
    waiting.reset();
  }
  void Complete(bool is_ok, Ends* ends) {
    const ApiCall done = *in_flight;
    in_flight.reset();
    if (waiting && (is_ok ? IsNoOpAfter(done, waiting->call) : IsNoOpNow())) Skip(ends);
    ends->push_back({done.tag, is_ok ? CallEnd::kSuccess : CallEnd::kError});
    if (!is_ok || done.type != CallType::kStatusPatch) return;
    ApiCall kept = done;
    if (unseen) Merge(*unseen, &kept);
    unseen.reset();
    if (!IsNoOp(kept)) unseen = kept;
  }
};

std::unique_ptr<ApiCall> RandomCall(Random& random, const CallDraft& draft) {
  switch (random.Below(8)) {
    case 0:
      return BindTo(draft, random.Chance(0.5) ? "a" : "b");
    case 1:
      return CallOf(draft, CallType::kDeletion);
    case 2:
      return NominateNode(draft, random.Chance(0.5) ? "a" : "");
    case 3:
    case 4:
      return ClearMessage(draft);
    default:
      return SetMessage(draft, random.Chance(0.5) ? "x" : "y");
  }
}

TEST_F(CallQueueTest, RandomProgramsAgreeWithTheReference) {
  constexpr ObjectId kObjects = 4;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Make({.in_flight_max = 1000, .calls_per_second = 0});
    Random random(seed);
    std::vector<ReferenceObject> reference(kObjects);
    uint64_t tag = 0;
    const Instant start = clock_.Now();
    for (int step = 0; step < 300; ++step) {
      const ObjectId object = static_cast<ObjectId>(random.Below(kObjects));
      ReferenceObject& expected = reference[object];
      const int64_t now = (clock_.Now() - start) / milliseconds(1);
      Ends ends;
      const uint64_t kind = random.Below(10);
      if (kind < 5) {
        CallDraft draft = Draft(object, ++tag, milliseconds(random.Below(3) * 20));
        if (random.Chance(0.3)) draft.pod = MarkedPod(random.Chance(0.5) ? "x" : "y");
        auto call = RandomCall(random, draft);
        expected.Add(*call, now, &ends);
        queue_->Add(std::move(call));
      } else if (kind == 5) {
        const PodRef pod = random.Chance(0.5) ? UnmarkedPod() : MarkedPod("x");
        expected.See(pod, &ends);
        queue_->Sync(object, pod);
      } else if (kind == 6) {
        expected.unseen.reset();
        expected.Skip(&ends);
        queue_->Cancel(object);
      } else if (kind < 9 && expected.in_flight) {
        const bool is_ok = random.Chance(0.7);
        expected.Complete(is_ok, &ends);
        queue_->Complete(object, is_ok ? Status() : Error("unavailable"));
      } else {
        std::vector<uint64_t> started = DispatchAfter(milliseconds(random.Below(30)));
        const int64_t then = (clock_.Now() - start) / milliseconds(1);
        std::vector<uint64_t> due;
        for (ReferenceObject& one : reference) {
          if (!one.waiting || one.in_flight || one.waiting->due > then) continue;
          due.push_back(one.waiting->call.tag);
          one.in_flight = std::move(one.waiting->call);
          one.waiting.reset();
        }
        std::sort(started.begin(), started.end());
        std::sort(due.begin(), due.end());
        ASSERT_EQ(started, due) << "seed " << seed << " step " << step;
        for (const uint64_t one : started) {
          for (const auto& [id, call] : sent_) {
            if (call.tag != one) continue;
            ASSERT_EQ(call.condition, reference[id].in_flight->condition);
            const std::string* nomination = reference[id].in_flight->nomination();
            ASSERT_EQ(call.nomination() == nullptr, nomination == nullptr);
            if (nomination != nullptr) {
              ASSERT_EQ(*call.nomination(), *nomination);
            }
          }
        }
      }
      ASSERT_EQ(recorder_.Take(), ends) << "seed " << seed << " step " << step;
    }
    queue_.reset();
    recorder_.Take();
  }
}

}  // namespace
}  // namespace schedq
