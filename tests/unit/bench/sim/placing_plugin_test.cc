// Goal: what a pod gets of its node beside room is reserved by all plugins or by none, given back
// once, in the reverse order, and brought to the cluster step by step; Permit asks one plugin after
// the other until one rejects; nobody is asked at a point that the plugin does not name.
// Method: a cache with plugins that write down what they are asked.
#include "bench/sim/placing/placing_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placer.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/waiting_pods.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Notes = std::vector<std::string>;

class NotingPlugin final : public PlacingPlugin {
 public:
  struct Options {
    std::optional<ExtensionPoint> only_at;  // None: at all points.
    size_t steps = 0;
    PermitAnswer permit;
    bool chooses = true;
    bool reserves = true;
    size_t failing_step = SIZE_MAX;
  };

  NotingPlugin(size_t number, Notes* notes, const Options& options)
      : number_(number), notes_(*notes), options_(options) {}

  std::string_view name() const override { return "Noting"; }
  ExtensionPoints points() const override {
    if (options_.only_at) return ExtensionPoints(*options_.only_at);
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kReserve,
                           ExtensionPoint::kPermit, ExtensionPoint::kPreBind);
  }
  PreFilterAnswer PreFilter(PlacingAttempt*) const override { return PreFilterAnswer::kSkip; }
  uint64_t Filter(const PlacingAttempt&, const NodeColumns&, size_t, uint64_t all) const override {
    return all;
  }
  bool Choose(const PlacingAttempt&, Decision*) const override { return options_.chooses; }
  bool Reserve(const ClusterPod&, const Decision&) const override {
    if (options_.reserves) Note("reserves");
    return options_.reserves;
  }
  PermitAnswer Permit(const ClusterPod&, const Decision&, size_t self,
                      WaitingPods* waiting) const override {
    Note("permits as " + std::to_string(self) + " of " + std::to_string(waiting->size()));
    return options_.permit;
  }
  void Unreserve(const ClusterPod&, const Decision&, size_t steps) const override {
    Note("unreserves after " + std::to_string(steps));
  }
  size_t PreBindPreFlight(const Decision&) const override { return options_.steps; }
  bool PreBind(size_t step, Cluster*, const ClusterPod&, const Decision&) const override {
    Note("step " + std::to_string(step));
    return step != options_.failing_step;
  }

 private:
  void Note(const std::string& what) const {
    notes_.push_back(std::to_string(number_) + " " + what);
  }

  const size_t number_;
  Notes& notes_;
  const Options options_;
};

constexpr size_t kPlugins = 5;

class PlacingPluginTest : public testing::Test {
 protected:
  PlacingPluginSource Make() {
    return [this](const PlacingTools&) {
      std::vector<PlacingPluginRef> plugins;
      for (size_t i = 0; i < kPlugins; ++i) {
        plugins.push_back(std::make_unique<NotingPlugin>(i, &notes_, options_[i]));
      }
      return plugins;
    };
  }
  static void AddNode(SchedulerCache* cache) {
    ClusterChange change;
    change.resource = Resource::kNode;
    change.objects.after = NodeOf(1, 100);
    cache->Apply(change);
  }

  std::array<NotingPlugin::Options, kPlugins> options_;
  Notes notes_;
  // Asks the Permit plugins alone.
  PermitOutcome Permit() {
    const Framework framework(Make()({}));
    return framework.Permit(pod_, Decision(), &waiting_);
  }

  const std::shared_ptr<ClusterPod> pod_ = PodOf(1, 10);
  VirtualClock clock_{Instant()};
  WaitingPods waiting_{&clock_};
};

constexpr PermitAnswer kWait = {.kind = PermitAnswer::Kind::kWait, .timeout = kSecond};
constexpr PermitAnswer kReject = {.kind = PermitAnswer::Kind::kReject, .timeout = {}};

TEST_F(PlacingPluginTest, PermitAsksAllWhereNobodyRejects) {
  options_[1].permit = kWait;
  options_[3].permit = kWait;
  const PermitOutcome outcome = Permit();
  EXPECT_EQ(outcome.rejector, WaitingPods::kAllowed);
  ASSERT_EQ(outcome.waits.size(), 2u);
  EXPECT_EQ(outcome.waits[0].plugin, 1u);
  EXPECT_EQ(outcome.waits[1].plugin, 3u);
  EXPECT_EQ(waiting_.size(), 1u);
  EXPECT_THAT(notes_,
              ElementsAre("0 permits as 0 of 1", "1 permits as 1 of 1", "2 permits as 2 of 1",
                          "3 permits as 3 of 1", "4 permits as 4 of 1"));
}

TEST_F(PlacingPluginTest, ARejectionEndsPermitAndTheWait) {
  options_[0].permit = kWait;
  options_[2].permit = kReject;
  const PermitOutcome outcome = Permit();
  EXPECT_EQ(outcome.rejector, 2u);
  EXPECT_TRUE(outcome.waits.empty());
  EXPECT_EQ(waiting_.size(), 0u);
  EXPECT_EQ(notes_.size(), 3u);
}

TEST_F(PlacingPluginTest, APodThatIsAllowedAtOnceIsNotKept) {
  EXPECT_EQ(Permit().rejector, WaitingPods::kAllowed);
  EXPECT_EQ(waiting_.size(), 0u);
}

TEST_F(PlacingPluginTest, APointThatNobodyNamesCostsNothing) {
  for (NotingPlugin::Options& options : options_) options.only_at = ExtensionPoint::kFilter;
  SchedulerCache cache(Make());
  AddNode(&cache);
  Decision decision = Placer(&cache).Decide(*pod_);
  ASSERT_TRUE(cache.Assume(pod_, &decision));
  EXPECT_EQ(cache.framework().Permit(pod_, decision, &waiting_).rejector, WaitingPods::kAllowed);
  EXPECT_EQ(cache.framework().PreBindSteps(decision), 0u);
  cache.Forget(*pod_, decision, 0);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(PlacingPluginTest, AllReserveOrNone) {
  options_[2].reserves = false;
  SchedulerCache cache(Make());
  AddNode(&cache);
  Decision decision = Placer(&cache).Decide(*pod_);
  ASSERT_EQ(decision.node, "n1");
  EXPECT_FALSE(cache.Assume(pod_, &decision));
  EXPECT_FALSE(cache.IsAssumed(pod_->slot()));
  EXPECT_EQ(cache.nodes().BalanceOf(decision.slot).free[0], 10) << "the room of a pod is back";
  EXPECT_THAT(notes_, ElementsAre("0 reserves", "1 reserves", "1 unreserves after 0",
                                  "0 unreserves after 0"));
}

TEST_F(PlacingPluginTest, ForgettingGivesBackWhatNoStepHasBroughtToTheCluster) {
  options_[1].steps = 2;
  options_[3].steps = 2;
  SchedulerCache cache(Make());
  AddNode(&cache);
  Decision decision = Placer(&cache).Decide(*pod_);
  ASSERT_TRUE(cache.Assume(pod_, &decision));
  EXPECT_TRUE(cache.IsAssumed(pod_->slot()));
  notes_.clear();
  cache.Forget(*pod_, decision, 3);
  EXPECT_FALSE(cache.IsAssumed(pod_->slot()));
  EXPECT_THAT(notes_,
              ElementsAre("4 unreserves after 0", "3 unreserves after 1", "2 unreserves after 0",
                          "1 unreserves after 2", "0 unreserves after 0"));
}

TEST_F(PlacingPluginTest, TheStepsOfPreBindAreThoseOfAllPluginsInTurn) {
  options_[1].steps = 2;
  options_[4].steps = 1;
  options_[4].failing_step = 0;
  const Framework plugins(Make()({}));
  VirtualClock clock{Instant()};
  Cluster cluster({.clock = &clock});
  const Decision decision;
  ASSERT_EQ(plugins.PreBindSteps(decision), 3u);
  EXPECT_TRUE(plugins.PreBind(0, &cluster, *pod_, decision));
  EXPECT_TRUE(plugins.PreBind(1, &cluster, *pod_, decision));
  EXPECT_FALSE(plugins.PreBind(2, &cluster, *pod_, decision));
  EXPECT_THAT(notes_, ElementsAre("1 step 0", "1 step 1", "4 step 0"));
}

TEST_F(PlacingPluginTest, WhatIsGoneMeanwhileIsDecidedAnew) {
  options_[3].chooses = false;
  SchedulerCache cache(Make());
  AddNode(&cache);
  const Decision decision = Placer(&cache).Decide(*pod_);
  EXPECT_EQ(decision.node, "");
  EXPECT_TRUE(decision.was_overtaken);
  EXPECT_THAT(notes_, IsEmpty());
}

}  // namespace
}  // namespace schedq
