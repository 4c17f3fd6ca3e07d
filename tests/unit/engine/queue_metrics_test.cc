// Each metric of docs/formats.md that concerns the queue, recounted independently of the engine.
// Method: a seeded life of forty pods; after every step the gauges are compared with what the read
// side says, and at the end the counters with what an observer saw.
#include "engine/queue_metrics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/atom.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue_answers.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {
namespace {

using std::chrono::seconds;

// Counts entries as docs/semantics.md says, from the moves alone.
class EntryCounter final : public QueueObserver {
 public:
  void OnMoved(const PodRef&, Place from, Place to, EventLabel label) override {
    if (label == kNoLabel || label == LabelOf(SpecialLabel::kPodPopped)) {
      if (from == Place::kBackoff && to == Place::kInFlight) {
        ++entries[{"active", LabelOf(SpecialLabel::kPopFromBackoffQ)}];
      }
      return;
    }
    if (to == Place::kActive || InBackoff(to)) {
      ++entries[{std::string(IncomingQueueName(to)), label}];
    } else if (InPool(to) && (!InPool(from) || TakesOutFirst(label))) {
      ++entries[{std::string(IncomingQueueName(to)), label}];
    }
  }

  std::map<std::pair<std::string, EventLabel>, uint64_t> entries;

 private:
  // Events and the flush take a pod out of the pool before they requeue it; Activate and Update
  // do not.
  static bool TakesOutFirst(EventLabel label) {
    const std::string_view text = LabelText(label);
    return label != LabelOf(SpecialLabel::kForceActivate) && !text.starts_with("TargetPod");
  }
};

class QueueMetricsTest : public QueueTest {
 protected:
  void CompareGauges(QueueBench& bench) {
    std::map<std::string, double> pending;
    for (const Place place : {Place::kActive, Place::kBackoff, Place::kErrorBackoff,
                              Place::kUnschedulable, Place::kGated}) {
      const char* queue = InBackoff(place) ? "backoff" : PlaceName(place).data();
      pending[queue] += static_cast<double>(bench.queue().List(place).size());
    }
    for (const auto& [queue, count] : pending) {
      ASSERT_EQ(bench.metrics().Value("scheduler_pending_pods", {queue}), count) << queue;
    }
    const double flying = static_cast<double>(bench.queue().List(Place::kInFlight).size());
    ASSERT_EQ(bench.metrics().Value("scheduler_inflight_events", {"PodPopped"}).value_or(0),
              flying);
  }

  void CompareRejectors(QueueBench& bench, const std::vector<std::string>& plugins) {
    std::map<PluginId, int> rejected;
    for (const Place place : {Place::kActive, Place::kBackoff, Place::kErrorBackoff,
                              Place::kUnschedulable, Place::kGated}) {
      for (const PodRef& pod : bench.queue().List(place)) {
        bench.FieldsOf(pod->name).Rejectors().ForEach([&](PluginId id) { ++rejected[id]; });
      }
    }
    for (const std::string& plugin : plugins) {
      const double value = bench.metrics()
                               .Value("scheduler_unschedulable_pods", {plugin, "default-scheduler"})
                               .value_or(0);
      ASSERT_EQ(value, rejected[bench.PluginNamed(plugin)]) << plugin;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueMetricsTest, testing::ValuesIn(AllQueueCases()), CaseName);

TEST_P(QueueMetricsTest, AgreeWithARecountThroughoutALife) {
  GatingSwitch gating;
  EntryCounter counter;
  QueueBenchOptions options =
      Options({GatingPlugin("Gating", &gating, {On(Resource::kNode, Action::kAdd)}),
               HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)}),
               HintPlugin("Quota", {On(Resource::kPod, Action::kUpdatePodLabel)})});
  options.observers = {&counter};
  QueueBench bench(std::move(options));
  Random random(7);
  std::map<std::string, PodRef> live;
  std::vector<PoppedPod> flying;
  for (int step = 0; step < 4000; ++step) {
    const std::string name = "pod-" + std::to_string(random.Below(40));
    const auto found = live.find(name);
    gating.open = random.Below(3) != 0;
    switch (random.Below(9)) {
      case 0:
      case 1:
        if (found == live.end()) bench.Add(live[name] = MakePod(name, random.Below(3)));
        break;
      case 2:
        if (found != live.end() && random.Below(3) == 0) {
          bench.Delete(found->second);
          live.erase(found);
        }
        break;
      case 3: {
        if (found == live.end()) break;
        auto changed = MakePod(name, random.Below(3));
        changed->labels = {{"step", std::to_string(step)}};
        bench.Update(std::exchange(found->second, changed), changed);
        break;
      }
      case 4:
      case 5:
        if (auto popped = bench.queue().TryPop()) flying.push_back(*popped);
        break;
      case 6:
        if (!flying.empty()) {
          const std::vector<std::vector<std::string>> kinds = {{}, {"Fit"}, {"Quota", "Fit"}};
          static_cast<void>(bench.Fail(flying.back(), kinds[random.Below(3)]));
          flying.pop_back();
        }
        break;
      case 7:
        Send(bench, Resource::kNode, Action::kAdd);
        if (found != live.end()) bench.queue().Activate(std::vector<PodRef>{found->second});
        break;
      case 8:
        bench.Advance(seconds(random.Below(100)));
        bench.queue().FlushBackoff();
        bench.queue().FlushUnschedulable();
        break;
    }
    CompareGauges(bench);
    CompareRejectors(bench, {"Gating", "Fit", "Quota"});
  }
  EXPECT_GT(counter.entries.size(), 12u) << "the life was rich enough";
  for (const Place place : {Place::kActive, Place::kBackoff, Place::kUnschedulable}) {
    for (EventLabel label = 0; label < kEventLabelCount; ++label) {
      const auto key = std::pair(std::string(IncomingQueueName(place)), label);
      const auto counted = counter.entries.find(key);
      EXPECT_EQ(bench.Incoming(place, label),
                counted == counter.entries.end() ? 0 : counted->second)
          << key.first << " " << LabelText(label);
    }
  }
}

TEST_P(QueueMetricsTest, LoggedEventsAreCountedUnderTheirLabels) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  const auto logged = [&] {
    return bench.metrics().Value("scheduler_inflight_events", {"NodeAdd"}).value_or(0);
  };
  bench.Add(MakePod("pod"));
  const PoppedPod popped = bench.MustPop();
  Send(bench, Resource::kNode, Action::kAdd);
  Send(bench, Resource::kNode, Action::kAdd);
  EXPECT_EQ(logged(), 2);
  bench.queue().Done(popped.key);
  EXPECT_EQ(logged(), 0);
}

TEST_P(QueueMetricsTest, EachEventIsTimedOnce) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  Send(bench, Resource::kNode, Action::kAdd);
  Send(bench, Resource::kNode, Action::kAdd);
  Send(bench, Resource::kStorageClass, Action::kAdd);  // No plugin registered: not handled.
  const auto handled =
      bench.metrics().HistogramAt("scheduler_event_handling_duration_seconds", {"NodeAdd"});
  ASSERT_TRUE(handled.has_value());
  EXPECT_EQ(handled->count, 2u);
}

TEST_P(QueueMetricsTest, EveryAnswerOfPreEnqueueIsCounted) {
  GatingSwitch first;
  GatingSwitch second;
  QueueBench bench(Options({GatingPlugin("First", &first), GatingPlugin("Second", &second)}));
  const auto answers = [&](const char* plugin, const char* status) {
    const auto value = bench.metrics().HistogramAt("scheduler_plugin_execution_duration_seconds",
                                                   {plugin, "PreEnqueue", status});
    return value ? value->count : 0;
  };
  constexpr uint64_t kPods = 40;  // Of so many, more than one is measured.
  for (uint64_t i = 0; i < kPods; ++i) {
    second.open = i % 2 == 0;
    bench.Add(MakePod("pod-" + std::to_string(i)));
  }
  EXPECT_EQ(answers("First", "Success"), kPods);
  EXPECT_EQ(answers("Second", "Success"), kPods / 2);
  EXPECT_EQ(answers("Second", "UnschedulableAndUnresolvable"), kPods / 2);
  EXPECT_EQ(first.asked, static_cast<int>(kPods));
}

TEST(GateMetrics, SayWhichGatesAreOn) {
  MetricsRegistry metrics;
  ExposeGates(GatesWith(Gate::kSchedulerPreQueueingHints, false), &metrics);
  const char* name = "kubernetes_feature_enabled";
  EXPECT_EQ(metrics.Value(name, {"SchedulerPreQueueingHints", "BETA"}), 0);
  EXPECT_EQ(metrics.Value(name, {"SchedulerPopFromBackoffQ", "BETA"}), 1);
  EXPECT_EQ(metrics.Value(name, {"SchedulerPreEnqueuePodStatus", "BETA"}), 1);
}

// docs/semantics.md, "Counting": the cases in which a pod that is gated counts, and those in which
// not.
TEST_P(QueueMetricsTest, CountingTable) {
  GatingSwitch gating;
  QueueBench bench(Options({GatingPlugin("Gating", &gating, {On(Resource::kNode, Action::kAdd)}),
                            HintPlugin("Fit", {On(Resource::kNode, Action::kDelete)})}));
  const EventLabel node_add = MakeEvent(Resource::kNode, Action::kAdd).label;
  const PodRef pod = MakePod("pod");
  bench.AddRejected(pod, {"Fit"});
  EXPECT_EQ(bench.Incoming(Place::kUnschedulable, SpecialLabel::kScheduleAttemptFailure), 1u);
  gating.open = false;
  bench.queue().Activate(std::vector<PodRef>{pod});  // Was in the pool: does not count.
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:Gating");
  EXPECT_EQ(bench.Incoming(Place::kUnschedulable, SpecialLabel::kForceActivate), 0u);
  bench.Advance(seconds(5));
  Send(bench, Resource::kNode, Action::kAdd);  // Taken out first: counts again.
  EXPECT_EQ(bench.PlaceOf("pod"), "gated:Gating");
  EXPECT_EQ(bench.Incoming(Place::kUnschedulable, node_add), 1u);
}

// A gauge that is not there would lie in the row of another thread's.
TEST_P(QueueMetricsTest, APluginThatIsNotRegisteredHasNoGauge) {
  QueueBench bench(Options({HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  std::thread([] { Seam<std::atomic>::ThreadIndex(); }).join();
  MustSucceed(bench.queue().Add(MakePod("pod")));
  PluginSet unknown;
  for (PluginId plugin = 1; plugin < kPluginCountMax; ++plugin) unknown.Insert(plugin);
  EXPECT_TRUE(bench.queue().Fail(bench.MustPop().key, unknown, {}).ok());
  EXPECT_EQ(bench.PlaceOf("pod"), "unschedulable");
  const auto* rejected = bench.metrics().Find("scheduler_unschedulable_pods");
  for (const MetricSample& sample : rejected->Read()) EXPECT_EQ(sample.value, 0);
  bench.queue().Delete(*MakePod("pod"));
}

// With the gate off, PreEnqueue runs on the way out of backoff and may reject there.
TEST_P(QueueMetricsTest, RejectedOnTheWayOutOfBackoff) {
  GatingSwitch gating;
  QueueBench bench(Options(
      {GatingPlugin("Gating", &gating), HintPlugin("Fit", {On(Resource::kNode, Action::kAdd)})}));
  const PodRef activated = MakePod("activated");
  bench.AddRejected(activated, {"Fit"});
  bench.AddRejected(MakePod("flushed"), {"Fit"});
  Send(bench, Resource::kNode, Action::kAdd);
  gating.open = false;
  bench.queue().Activate(std::vector<PodRef>{activated});
  bench.Advance(seconds(3));
  bench.queue().FlushBackoff();
  const uint64_t rejected = PopsFromBackoff() ? 0 : 1;
  EXPECT_EQ(bench.Incoming(Place::kUnschedulable, SpecialLabel::kForceActivate), rejected);
  EXPECT_EQ(bench.Incoming(Place::kUnschedulable, SpecialLabel::kBackoffComplete), rejected);
}

}  // namespace
}  // namespace schedq
