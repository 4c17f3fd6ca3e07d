// Goal: what an operation could not finish, because something threw, is finished by the next one;
// and a gated pod is asked about again only for events that may have let it through.
// Method: an observer that throws between a move and its ticket; a PreEnqueue check that sends
// events while it is asked, as another thread would.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/pods/unfinished_moves.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "tests/support/queue_wiring.h"

namespace schedq {
namespace {

TEST(UnfinishedMoves, StayAnnouncedUntilTheyAreFinished) {
  UnfinishedMoves<std::atomic, 4> moves;
  auto announcement = moves.Begin();
  announcement.Announce({MoveName(7, 4, Place::kActive), 1, {}});
  int seen = 0;
  EXPECT_FALSE(moves.FinishAll([&](const Move&, const auto& is_under_way) {
    ++seen;
    EXPECT_TRUE(is_under_way());
    return false;
  }));
  EXPECT_TRUE(moves.FinishOf(7, [&](const Move& move, const auto&) {
    ++seen;
    EXPECT_EQ(move.note, 1u);
    return true;
  }));
  EXPECT_FALSE(moves.FinishAll([](const Move&, const auto&) { return true; }));
  EXPECT_EQ(seen, 2);
}

constexpr PluginId kFilter = 0;
constexpr PluginId kGating = 1;

// Node events concern Filter, events of claims the gating plugin; every event helps.
class World final : public RequeueJudge, public PreEnqueueCheck, public QueueObserver {
 public:
  std::function<PluginId()> check = [] { return kNoPlugin; };
  std::function<void()> moved = [] {};

  PluginId Check(const Pod&, PluginId) const override { return check(); }
  std::string Explain(const Pod&, PluginId) const override { return ""; }
  PluginSet RegisteredFor(const ClusterEvent& event) const override {
    return PluginSet::Of(event.resource == Resource::kNode ? kFilter : kGating);
  }
  void Narrow(const ClusterEvent& event, const ObjectChange&, Narrowing* narrowing) const override {
    narrowing->asked_of_all = kEveryRegistration;
    narrowing->plugins_of_all = RegisteredFor(event);
  }
  void Judge(std::span<const JudgedPod>, const ClusterEvent&, const ObjectChange&,
             std::span<Verdict> verdicts) const override {
    for (Verdict& verdict : verdicts) verdict = Verdict::kAfterBackoff;
  }
  void OnMoved(const PodRef&, Place, Place, EventLabel) override { moved(); }
};

class LockfreePromises : public testing::Test {
 protected:
  explicit LockfreePromises(bool is_observed = false) {
    QueueOptions options =
        OptionsAround(&clock_, &names_, &world_, &metrics_, {"Filter", "Gating"});
    if (is_observed) options.observers = {&world_};
    queue_.emplace(std::move(options));
  }

  static PodRef MakePod(const std::string& name) {
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "ns";
    pod->name = name;
    pod->uid = name;
    return pod;
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  BasicInterner<std::atomic> names_{2};
  World world_;
  MetricsRegistry metrics_;
  std::optional<LockfreeQueue> queue_;
};

// The check is asked while a thread sends event after event.
TEST_F(LockfreePromises, UnrelatedEventsDoNotMakePreEnqueueBeAskedAgain) {
  int asked = 0;
  world_.check = [&] {
    if (++asked < 1000) queue_->Event(MakeEvent(Resource::kNode, Action::kAdd), {});
    return kGating;
  };
  MustSucceed(queue_->Add(MakePod("gated")));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(queue_->Counts().gated, 1u);
}

TEST_F(LockfreePromises, RelatedEventMakesPreEnqueueBeAskedOnceMore) {
  int asked = 0;
  world_.check = [&] {
    // The event opens what the answer, which is known already, says is closed.
    if (++asked > 1) return kNoPlugin;
    queue_->Event(MakeEvent(Resource::kResourceClaim, Action::kUpdate), {});
    return kGating;
  };
  MustSucceed(queue_->Add(MakePod("gated")));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(queue_->Counts().active, 1u);
  EXPECT_TRUE(queue_->TryPop().has_value());
}

TEST_F(LockfreePromises, AddThatPreEnqueueThrowsOutOfLeavesNothing) {
  world_.check = []() -> PluginId { throw std::runtime_error("the check is out of order"); };
  EXPECT_THROW(static_cast<void>(queue_->Add(MakePod("pod"))), std::runtime_error);
  EXPECT_EQ(names_.size(), 0u);
  EXPECT_EQ(queue_->Where("ns/pod").place, Place::kAbsent);
}

class ObservedLockfreePromises : public LockfreePromises {
 protected:
  ObservedLockfreePromises() : LockfreePromises(true) {}
};

// More exceptions one after the other than a thread can leave moves unfinished at once.
TEST_F(ObservedLockfreePromises, WhatAnExceptionLeftUnfinishedIsFinished) {
  world_.moved = [] { throw std::runtime_error("the observer is out of order"); };
  constexpr size_t kPods = 10;
  for (size_t i = 0; i < kPods; ++i) {
    EXPECT_THROW(static_cast<void>(queue_->Add(MakePod("pod-" + std::to_string(i)))),
                 std::runtime_error);
  }
  EXPECT_EQ(queue_->Counts().active, kPods);
  world_.moved = [] {};
  std::set<std::string> popped;
  while (const std::optional<PoppedPod> pod = queue_->TryPop()) {
    EXPECT_TRUE(popped.insert(pod->pod->name).second);
  }
  EXPECT_EQ(popped.size(), kPods);
}

}  // namespace
}  // namespace schedq
