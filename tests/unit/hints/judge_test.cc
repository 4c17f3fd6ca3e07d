// Goal: every sentence of docs/semantics.md, "Is a pod worth requeueing for an event?".
// Method: plugins with constant answers; the verdict of one pod at a time, the metrics recounted
// from the questions that the hints themselves saw, and large batches against single judgements.
#include "hints/judge.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "hints/plugin.h"
#include "hints/registry.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

constexpr PluginId kQueue = 0;
constexpr PluginId kSkip = 1;
constexpr PluginId kError = 2;
constexpr PluginId kNull = 3;
constexpr PluginId kElsewhere = 4;  // Registered for another event only.

// A plugin for each kind of answer.
std::vector<Plugin> AnsweringPlugins() {
  Plugin elsewhere;
  elsewhere.name = "Elsewhere";
  elsewhere.events = {{Resource::kNode, Action::kAdd, {}, {}}};
  return {ClaimPlugin("Queue", Answer(Hint::kQueue)), ClaimPlugin("Skip", Answer(Hint::kSkip)),
          ClaimPlugin("Error", Answer(Hint::kError)), ClaimPlugin("Null", {}), elsewhere};
}

class HintsJudgeTest : public testing::Test {
 protected:
  Verdict VerdictFor(PluginSet unschedulable, PluginSet pending,
                     RegistrationMask asked = kEveryRegistration) const {
    return JudgeOne(judge_, {&pod_, 0, unschedulable, pending, asked}, ClaimUpdate(), change_);
  }

  const Pod pod_ = MakePod("p");
  const ObjectChange change_{ViewOfClaim("c"), ViewOfClaim("c", true)};
  const PluginRegistry registry_ = BuildOrDie(AnsweringPlugins());
  const PluginJudge judge_{registry_};
};

TEST_F(HintsJudgeTest, RegisteredForIsThePluginsThatMatch) {
  EXPECT_EQ(judge_.RegisteredFor(ClaimUpdate()), SetOf({kQueue, kSkip, kError, kNull}));
  EXPECT_EQ(judge_.RegisteredFor(MakeEvent(Resource::kNode, Action::kAdd)), SetOf({kElsewhere}));
  EXPECT_TRUE(judge_.RegisteredFor(UnschedulableTimeoutEvent()).empty());
}

TEST_F(HintsJudgeTest, NoRejectorsMeansAfterBackoff) {
  EXPECT_EQ(VerdictFor({}, {}), Verdict::kAfterBackoff);
  EXPECT_EQ(VerdictFor({}, {}, 0), Verdict::kAfterBackoff);
}

TEST_F(HintsJudgeTest, OnlyRejectorsAreAsked) {
  EXPECT_EQ(VerdictFor(SetOf({kSkip}), {}), Verdict::kSkip);
  EXPECT_EQ(VerdictFor({}, SetOf({kSkip})), Verdict::kSkip);
}

TEST_F(HintsJudgeTest, OnlyMatchingRegistrationsAreAsked) {
  EXPECT_EQ(VerdictFor(SetOf({kElsewhere}), {}), Verdict::kSkip);
}

TEST_F(HintsJudgeTest, QueueFromUnschedulableIsAfterBackoff) {
  EXPECT_EQ(VerdictFor(SetOf({kQueue}), {}), Verdict::kAfterBackoff);
}

TEST_F(HintsJudgeTest, QueueFromPendingIsImmediately) {
  EXPECT_EQ(VerdictFor({}, SetOf({kQueue})), Verdict::kImmediately);
}

TEST_F(HintsJudgeTest, NoHintFunctionMeansQueue) {
  EXPECT_EQ(VerdictFor(SetOf({kNull}), {}), Verdict::kAfterBackoff);
  EXPECT_EQ(VerdictFor({}, SetOf({kNull})), Verdict::kImmediately);
}

TEST_F(HintsJudgeTest, ErrorCountsAsQueue) {
  EXPECT_EQ(VerdictFor(SetOf({kError}), {}), Verdict::kAfterBackoff);
  EXPECT_EQ(VerdictFor({}, SetOf({kError})), Verdict::kImmediately);
}

TEST_F(HintsJudgeTest, TheBestVerdictWinsWhateverTheOrder) {
  EXPECT_EQ(VerdictFor(SetOf({kQueue, kSkip}), {}), Verdict::kAfterBackoff);
  EXPECT_EQ(VerdictFor(SetOf({kQueue}), SetOf({kNull})), Verdict::kImmediately);
  EXPECT_EQ(VerdictFor(SetOf({kNull}), SetOf({kQueue})), Verdict::kImmediately);
  EXPECT_EQ(VerdictFor(SetOf({kQueue}), SetOf({kSkip})), Verdict::kAfterBackoff);
  EXPECT_EQ(VerdictFor(SetOf({kNull}), SetOf({kSkip})), Verdict::kAfterBackoff);
}

TEST_F(HintsJudgeTest, EveryMatchingRegistrationOfAPluginIsAsked) {
  Plugin twice = ClaimPlugin("Twice", Answer(Hint::kSkip));
  twice.events.push_back({Resource::kResourceClaim, Action::kUpdate, Answer(Hint::kQueue), {}});
  const PluginRegistry registry = BuildOrDie({twice});
  const PluginJudge judge(registry);
  EXPECT_EQ(JudgeOne(judge, {&pod_, 0, SetOf({0}), {}, kEveryRegistration}, ClaimUpdate()),
            Verdict::kAfterBackoff);
  EXPECT_EQ(JudgeOne(judge, {&pod_, 0, SetOf({0}), {}, 0b01}, ClaimUpdate()), Verdict::kSkip);
}

TEST_F(HintsJudgeTest, RegistrationsLeftOutByNarrowingAreNotAsked) {
  EXPECT_EQ(VerdictFor(SetOf({kQueue, kSkip}), {}, 0b0010), Verdict::kSkip);
  EXPECT_EQ(VerdictFor(SetOf({kQueue, kSkip}), {}, 0b0001), Verdict::kAfterBackoff);
}

TEST_F(HintsJudgeTest, WildcardsAskNoPlugin) {
  const JudgedPod judged{&pod_, 0, SetOf({kSkip}), {}, kEveryRegistration};
  EXPECT_EQ(JudgeOne(judge_, judged, UnschedulableTimeoutEvent()), Verdict::kAfterBackoff);
  const JudgedPod pending{&pod_, 0, {}, SetOf({kQueue}), kEveryRegistration};
  EXPECT_EQ(JudgeOne(judge_, pending, UnschedulableTimeoutEvent()), Verdict::kAfterBackoff);
}

TEST_F(HintsJudgeTest, WildcardsThatNameAnotherPodAreSkipped) {
  const JudgedPod judged{&pod_, 0, SetOf({kQueue}), {}, kEveryRegistration};
  const ObjectChange for_this{nullptr, ViewOfPod(pod_)};
  EXPECT_EQ(JudgeOne(judge_, judged, ForceActivateEvent(), for_this), Verdict::kAfterBackoff);
  Pod created_anew = pod_;
  created_anew.uid = "another";
  const ObjectChange for_another{nullptr, ViewOfPod(created_anew)};
  EXPECT_EQ(JudgeOne(judge_, judged, ForceActivateEvent(), for_another), Verdict::kSkip);
  // The old object names no pod.
  const ObjectChange only_before{ViewOfPod(created_anew), nullptr};
  EXPECT_EQ(JudgeOne(judge_, judged, ForceActivateEvent(), only_before), Verdict::kAfterBackoff);
  // A pod without rejectors is worth it nevertheless.
  const JudgedPod unrejected{&pod_, 0, {}, {}, kEveryRegistration};
  EXPECT_EQ(JudgeOne(judge_, unrejected, ForceActivateEvent(), for_another),
            Verdict::kAfterBackoff);
}

TEST_F(HintsJudgeTest, WildcardRegistrationsMatchOrdinaryEvents) {
  Plugin any;
  any.name = "Any";
  any.events = {{Resource::kWildcard, Action::kAll, Answer(Hint::kQueue), {}}};
  const PluginRegistry registry = BuildOrDie({any});
  const PluginJudge judge(registry);
  const JudgedPod judged{&pod_, 0, SetOf({0}), {}, kEveryRegistration};
  EXPECT_EQ(JudgeOne(judge, judged, ClaimUpdate()), Verdict::kAfterBackoff);
  EXPECT_EQ(JudgeOne(judge, judged, MakeEvent(Resource::kStorageClass, Action::kDelete)),
            Verdict::kAfterBackoff);
}

// Counts its questions, and stops at the first Queue that nothing can improve.
TEST_F(HintsJudgeTest, StopsEarlyAndCountsExactly) {
  int asked = 0;
  const auto counting = [&asked](const Pod&, const ObjectChange&) {
    ++asked;
    return Hint::kQueue;
  };
  const PluginRegistry registry =
      BuildOrDie({ClaimPlugin("A", counting), ClaimPlugin("B", counting),
                  ClaimPlugin("C", Answer(Hint::kError))});
  MetricsRegistry metrics;
  const auto one_tick_a_call = +[] {
    static int64_t calls = 0;
    return MonotonicTime(Duration(++calls * 1000));
  };
  const PluginJudge judge(registry, {.metrics = &metrics, .now = one_tick_a_call});
  const auto judge_pod = [&](PluginSet unschedulable, PluginSet pending) {
    JudgeOne(judge, {&pod_, 0, unschedulable, pending, kEveryRegistration}, ClaimUpdate());
  };
  const auto count = [&](const char* plugin, const char* hint) {
    const auto value = metrics.HistogramAt("scheduler_queueing_hint_execution_duration_seconds",
                                           {plugin, "resource.k8s.io/ResourceClaimUpdate", hint});
    return value.has_value() ? static_cast<int>(value->count) : 0;
  };

  judge_pod(SetOf({0, 1}), {});  // A, then nothing can improve it.
  EXPECT_EQ(asked, 1);
  judge_pod(SetOf({0, 1}), SetOf({2}));  // A and B, in hope of C.
  EXPECT_EQ(asked, 3);
  judge_pod(SetOf({1}), SetOf({0}));  // A is pending: the best there is.
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(count("A", "Queue"), 3);
  EXPECT_EQ(count("B", "Queue"), 1);
  EXPECT_EQ(count("C", "Error"), 1);
  EXPECT_EQ(count("A", "QueueSkip"), 0);

  // Three evaluations in the 1000 ns of one batch count as 333 ns each.
  const auto value = metrics.HistogramAt("scheduler_queueing_hint_execution_duration_seconds",
                                         {"B", "resource.k8s.io/ResourceClaimUpdate", "Queue"});
  ASSERT_TRUE(value.has_value());
  EXPECT_NEAR(value->sum, 333e-9, 1e-12);
}

TEST_F(HintsJudgeTest, AParallelBatchGivesTheVerdictsAndCountsOfSingleJudgements) {
  constexpr size_t kPods = 5000;
  std::mt19937_64 random(7);
  std::vector<Pod> pods;
  for (size_t i = 0; i < kPods; ++i) pods.push_back(MakePod("p" + std::to_string(i)));
  std::vector<JudgedPod> judged;
  for (const Pod& pod : pods) {
    judged.push_back({&pod, 0, PluginSet(random() % 32), PluginSet(random() % 4), random() % 16});
  }
  const auto by_name = [](const Pod& pod, const ObjectChange&) {
    return pod.name.back() % 2 == 0 ? Hint::kQueue : Hint::kSkip;
  };
  std::vector<Plugin> plugins = AnsweringPlugins();
  plugins[kQueue].events[0].hint = by_name;
  const PluginRegistry registry = BuildOrDie(plugins);
  MetricsRegistry serial_metrics;
  MetricsRegistry parallel_metrics;
  const PluginJudge serial(
      registry, {.metrics = &serial_metrics, .parallel_from = JudgeOptions::kNeverParallel});
  const PluginJudge parallel(registry, {.metrics = &parallel_metrics, .parallel_from = 1});

  std::vector<Verdict> wanted(kPods);
  for (size_t i = 0; i < kPods; ++i) {
    wanted[i] = JudgeOne(serial, judged[i], ClaimUpdate(), change_);
  }
  std::vector<Verdict> got(kPods);
  parallel.Judge(judged, ClaimUpdate(), change_, got);
  EXPECT_EQ(got, wanted);

  for (const char* plugin : {"Queue", "Skip", "Error", "Null"}) {
    for (const char* hint : {"Queue", "QueueSkip", "Error"}) {
      const char* name = "scheduler_queueing_hint_execution_duration_seconds";
      const LabelValues labels = {plugin, "resource.k8s.io/ResourceClaimUpdate", hint};
      const auto one = serial_metrics.HistogramAt(name, labels);
      const auto other = parallel_metrics.HistogramAt(name, labels);
      EXPECT_EQ(one ? one->count : 0, other ? other->count : 0) << plugin << " " << hint;
    }
  }
}

}  // namespace
}  // namespace schedq::hints_test
