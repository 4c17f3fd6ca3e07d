// Goal: whatever is asked of the call queue in whatever order, it starts, ends and merges calls as
// its rules say.
// Method: random programs are compared, step by step, with a reference of a few plain lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"
#include "tests/support/call_queue_fixture.h"
#include "tests/support/call_scene.h"

namespace schedq {
namespace {

using std::chrono::milliseconds;
using Ends = std::vector<EndRecorder::Ended>;

// The rules in plain lines: one object, the deadline in milliseconds.
struct ReferenceObject {
  struct Waiting {
    ApiCall call;
    std::optional<uint64_t> predecessor;  // The call whose condition depends on it.
    int64_t due;
  };
  std::optional<Waiting> waiting;
  std::optional<ApiCall> in_flight;
  std::optional<uint64_t> predecessor;  // Of what is in flight.
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
    Waiting next{call, {}, call.delay == Duration(0) ? 0 : now + call.delay / milliseconds(1)};
    if (waiting && waiting->call.type == call.type) {
      Merge(waiting->call, &next.call);
      next.due = std::min(next.due, waiting->due);
    } else if (!waiting && in_flight && in_flight->type == call.type) {
      Merge(*in_flight, &next.call);
    }
    if (waiting && call.condition.kind == ConditionPatch::Kind::kKeep) {
      next.predecessor = waiting->predecessor;
      const bool says_condition = waiting->call.condition.kind != ConditionPatch::Kind::kKeep;
      if (!next.predecessor && says_condition) next.predecessor = waiting->call.tag;
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
  void Complete(bool is_ok, Ends* ends, Ends* successor_ends) {
    const ApiCall done = *in_flight;
    in_flight.reset();
    if (waiting && (is_ok ? IsNoOpAfter(done, waiting->call) : IsNoOpNow())) Skip(ends);
    const CallEnd end = is_ok ? CallEnd::kSuccess : CallEnd::kError;
    ends->push_back({done.tag, end});
    if (predecessor) successor_ends->push_back({*predecessor, end});
    if (!is_ok || done.type != CallType::kStatusPatch) return;
    ApiCall kept = done;
    if (unseen) Merge(*unseen, &kept);
    unseen.reset();
    if (!IsNoOp(kept)) unseen = kept;
  }
};

ApiCall RandomCall(Random& random, const CallSpec& spec) {
  switch (random.Below(8)) {
    case 0:
      return BindTo(spec, random.Chance(0.5) ? "a" : "b");
    case 1:
      return CallOf(spec, CallType::kDeletion);
    case 2:
      return NominateNode(spec, random.Chance(0.5) ? "a" : "");
    case 3:
    case 4:
      return ClearMessage(spec);
    default:
      return SetMessage(spec, random.Chance(0.5) ? "x" : "y");
  }
}

class CallQueueProgram : public CallQueueFixture {
 protected:
  static constexpr ObjectId kObjects = 4;

  void Run(uint64_t seed) {
    Make({.in_flight_max = 1000, .calls_per_second = 0});
    reference_.assign(kObjects, {});
    start_ = clock_.Now();
    tag_ = 0;
    Random random(seed);
    for (int step = 0; step < 300; ++step) {
      Ends ends;
      Ends successor_ends;
      ASSERT_NO_FATAL_FAILURE(Step(random, &ends, &successor_ends))
          << "seed " << seed << " step " << step;
      ASSERT_EQ(recorder_.TakeEnds(), ends) << "seed " << seed << " step " << step;
      ASSERT_EQ(recorder_.TakeSuccessorEnds(), successor_ends)
          << "seed " << seed << " step " << step;
      successor_ends_ += successor_ends.size();
    }
    queue_.reset();
    recorder_.TakeEnds();
    recorder_.TakeSuccessorEnds();
  }

  uint64_t successor_ends_ = 0;

 private:
  int64_t NowMs() const { return (clock_.Now() - start_) / milliseconds(1); }

  void Step(Random& random, Ends* ends, Ends* successor_ends) {
    const auto object = static_cast<ObjectId>(random.Below(kObjects));
    ReferenceObject& expected = reference_[object];
    const uint64_t kind = random.Below(10);
    if (kind < 5) {
      CallSpec spec = Spec(object, ++tag_, milliseconds(random.Below(3) * 20));
      if (random.Chance(0.3)) spec.pod = MarkedPod(random.Chance(0.5) ? "x" : "y");
      auto call = RandomCall(random, spec);
      expected.Add(call, NowMs(), ends);
      queue_->Add(std::move(call));
    } else if (kind == 5) {
      const PodRef pod = random.Chance(0.5) ? UnmarkedPod() : MarkedPod("x");
      expected.See(pod, ends);
      queue_->Sync(object, pod);
    } else if (kind == 6) {
      expected.unseen.reset();
      expected.Skip(ends);
      queue_->Cancel(object);
    } else if (kind < 9 && expected.in_flight) {
      const bool is_ok = random.Chance(0.7);
      expected.Complete(is_ok, ends, successor_ends);
      queue_->Complete(object, is_ok ? Status() : Error("unavailable"));
    } else {
      StartDue(milliseconds(random.Below(30)));
    }
  }

  void StartDue(Duration later) {
    std::vector<uint64_t> started = DispatchAfter(later);
    std::vector<uint64_t> due;
    for (ObjectId object = 0; object < kObjects; ++object) {
      ReferenceObject& one = reference_[object];
      if (!one.waiting || one.in_flight || one.waiting->due > NowMs()) continue;
      due.push_back(one.waiting->call.tag);
      one.in_flight = std::move(one.waiting->call);
      one.predecessor = one.waiting->predecessor;
      one.waiting.reset();
      ASSERT_NO_FATAL_FAILURE(ExpectSent(object));
    }
    std::sort(started.begin(), started.end());
    std::sort(due.begin(), due.end());
    ASSERT_EQ(started, due);
  }

  // What was sent for the object says what it should.
  void ExpectSent(ObjectId object) {
    const ApiCall& sent = sent_[object];
    const ApiCall& expected = *reference_[object].in_flight;
    ASSERT_EQ(sent.tag, expected.tag);
    ASSERT_EQ(sent.condition, expected.condition);
    ASSERT_EQ(sent.nomination() == nullptr, expected.nomination() == nullptr);
    if (sent.nomination() != nullptr) {
      ASSERT_EQ(*sent.nomination(), *expected.nomination());
    }
  }

  std::vector<ReferenceObject> reference_;
  Instant start_{};
  uint64_t tag_ = 0;
};

TEST_F(CallQueueProgram, AgreesWithTheReference) {
  for (uint64_t seed = 1; seed <= 60; ++seed) ASSERT_NO_FATAL_FAILURE(Run(seed));
  EXPECT_GT(successor_ends_, 100u);
}

}  // namespace
}  // namespace schedq
