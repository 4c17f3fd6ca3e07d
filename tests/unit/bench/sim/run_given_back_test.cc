// Goal: room that a pod gives back without ever having been bound wakes the pods that wait for it,
// at once and not at the flush of the pool.
// Method: on a node for one pod, a plugin of the test's own holds a pod that has the node until
// another one was rejected for want of room; then the first is let go of in one of the ways in
// which a binding comes to nothing. Nothing else happens that could wake the second.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/waiting_pods.h"
#include "bench/sim/run/run_workload.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "perf/documents/run_document.h"
#include "tests/unit/bench/sim/run_ops.h"
#include "tests/unit/bench/sim/run_test_objects.h"

namespace schedq {
namespace {

constexpr const char* kHeldPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: held-}\nspec:\n  containers:\n"
    "  - {name: c, image: i, resources: {requests: {cpu: '3'}}}\n";
constexpr const char* kHeldPodWithFinalizer =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: held-, finalizers: [f/x]}\nspec:\n"
    "  containers:\n  - {name: c, image: i, resources: {requests: {cpu: '3'}}}\n";
constexpr const char* kOtherPod =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: other-}\nspec:\n  containers:\n"
    "  - {name: c, image: i, resources: {requests: {cpu: '2'}}}\n";

// How a held pod is let go of once the other one was rejected.
enum class Ending : uint8_t { kByTheTest, kRejected, kPreBindFails, kReserveFails };

// What the plugin knows, by any thread.
struct Held {
  std::mutex mutex;
  std::condition_variable changed;
  WaitingPods* waiting = nullptr;
  size_t self = 0;
  std::string uid;
  size_t permits = 0;  // How often Permit was asked of a held pod.
  bool has_reserved = false;
  bool has_rejected_other = false;
};

class Holding final : public PlacingPlugin {
 public:
  Holding(Ending ending, Duration timeout, Held* held)
      : ending_(ending), timeout_(timeout), held_(*held) {}

  std::string_view name() const override { return "Holding"; }
  ExtensionPoints points() const override {
    return ExtensionPoints(ExtensionPoint::kFilter, ExtensionPoint::kPostFilter,
                           ExtensionPoint::kReserve, ExtensionPoint::kPermit,
                           ExtensionPoint::kPreBind);
  }

  // Where another thread has the room for a moment, the other pod comes in that moment.
  PreFilterAnswer PreFilter(PlacingAttempt* attempt) const override {
    if (ending_ == Ending::kReserveFails && !IsHeld(*attempt->pod)) {
      std::unique_lock lock(held_.mutex);
      held_.changed.wait_for(lock, std::chrono::seconds(5), [this] { return held_.has_reserved; });
    }
    return PreFilterAnswer::kSkip;
  }

  // The pod has the node's room while it is asked.
  bool Reserve(const ClusterPod& pod, const Decision&) const override {
    if (ending_ != Ending::kReserveFails || !IsHeld(pod)) return true;
    std::unique_lock lock(held_.mutex);
    held_.has_reserved = true;
    held_.changed.notify_all();
    held_.changed.wait_for(lock, std::chrono::seconds(5),
                           [this] { return held_.has_rejected_other; });
    return false;
  }

  PermitAnswer Permit(const ClusterPod& pod, const Decision&, size_t self,
                      WaitingPods* waiting) const override {
    if (!IsHeld(pod)) return {};
    const std::lock_guard lock(held_.mutex);
    held_.waiting = waiting;
    held_.self = self;
    held_.uid = pod.uid;
    if (++held_.permits > 1 && ending_ == Ending::kPreBindFails) return {};
    return {PermitAnswer::Kind::kWait, timeout_};
  }

  // What it says of the held pod takes effect while the other's attempt is open, or after it.
  std::optional<PostFilterResult> PostFilter(const FailedSearch& search) const override {
    if (IsHeld(*search.attempt().pod)) return std::nullopt;
    std::unique_lock lock(held_.mutex);
    held_.has_rejected_other = true;
    held_.changed.notify_all();
    const std::string uid = std::exchange(held_.uid, "");
    lock.unlock();
    if (uid.empty()) return std::nullopt;
    if (ending_ == Ending::kRejected) held_.waiting->Reject(uid, held_.self);
    if (ending_ == Ending::kPreBindFails) held_.waiting->Allow(uid, held_.self);
    return std::nullopt;
  }

  size_t PreBindPreFlight(const Decision&) const override {
    return ending_ == Ending::kPreBindFails ? 1 : 0;
  }
  bool PreBind(size_t, Cluster*, const ClusterPod& pod, const Decision&) const override {
    return !IsHeld(pod);
  }

 private:
  static bool IsHeld(const ClusterPod& pod) { return pod.name.starts_with("held-"); }

  const Ending ending_;
  const Duration timeout_;
  Held& held_;
};

class GivenBackTest : public testing::TestWithParam<ClockAndEngine> {
 protected:
  // One pod is held, and then another one comes for which there is no room beside it.
  static RunOutcome Run(const std::string& let_go, RunOptions options,
                        const char* held_pod = kHeldPod) {
    return RunOps(
        "  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}\n"
        "  - {opcode: createPods, namespace: h, count: 1, podTemplatePath: held.yaml, "
        "skipWaitToCompletion: true}\n"
        "  - {opcode: startCollectingMetrics, name: m, namespaces: [o]}\n"
        "  - {opcode: createPods, namespace: o, count: 1, podTemplatePath: other.yaml, "
        "skipWaitToCompletion: true}\n"
        "  - {opcode: barrier, namespaces: [o], stageRequirement: Attempted}\n" +
            let_go +
            "  - {opcode: barrier, namespaces: [o]}\n"
            "  - {opcode: stopCollectingMetrics}\n",
        {{"node.yaml", kNodeYaml}, {"held.yaml", held_pod}, {"other.yaml", kOtherPod}}, GetParam(),
        std::move(options));
  }
  RunOptions Options(Ending ending, Duration timeout) {
    RunOptions options;
    options.placing_plugins = [this, ending, timeout](const PlacingTools& tools) {
      std::vector<PlacingPluginRef> plugins = BuiltinPlacingPlugins(tools);
      plugins.push_back(std::make_unique<Holding>(ending, timeout, &held_));
      return plugins;
    };
    // No event helps a pod that it rejects.
    options.further_plugins.emplace_back([](World*) -> Result<std::vector<Plugin>> {
      Plugin plugin;
      plugin.name = "Holding";
      plugin.rejection_message = "the test lets it go";
      return std::vector<Plugin>{plugin};
    });
    return options;
  }
  void ExpectThatTheOtherWasWoken(const RunOutcome& outcome) const {
    EXPECT_EQ(outcome.outcome, WorkloadOutcome::kMeasured) << outcome.reason;
    EXPECT_EQ(outcome.pods, 1u);
    EXPECT_TRUE(held_.has_rejected_other) << "nothing was to be given back";
    // The flush comes after five minutes.
    EXPECT_LT(outcome.repetition.seconds, 60);
  }

  Held held_;
};

INSTANTIATE_TEST_SUITE_P(All, GivenBackTest, ClocksAndEngines(), NameOfClockAndEngine);

constexpr const char* kDeletion =
    "  - {opcode: deletePods, namespace: h, skipWaitToCompletion: true}\n";
constexpr Duration kNoTimeout = std::chrono::hours(1);

TEST_P(GivenBackTest, ByAPodThatAPluginRejectsAfterItsWait) {
  ExpectThatTheOtherWasWoken(Run("", Options(Ending::kRejected, kNoTimeout)));
}

TEST_P(GivenBackTest, ByAPodWhoseWaitTimesOut) {
  ExpectThatTheOtherWasWoken(Run("", Options(Ending::kByTheTest, std::chrono::milliseconds(300))));
}

TEST_P(GivenBackTest, ByAPodWhoseBindingFails) {
  ExpectThatTheOtherWasWoken(Run("", Options(Ending::kPreBindFails, kNoTimeout)));
}

TEST_P(GivenBackTest, ByAPodThatIsDeletedOnItsWay) {
  ExpectThatTheOtherWasWoken(Run(kDeletion, Options(Ending::kByTheTest, kNoTimeout)));
}

// It is there until its finalizer goes, which is never, and is tried no more.
TEST_P(GivenBackTest, ByAPodWhoseDeletionBeginsOnItsWay) {
  const std::string pause = "  - {opcode: sleep, duration: 2500ms}\n";
  ExpectThatTheOtherWasWoken(
      Run(kDeletion + pause, Options(Ending::kByTheTest, kNoTimeout), kHeldPodWithFinalizer));
  EXPECT_EQ(held_.permits, 1u);
}

// On the virtual clock there is one scheduling thread, and no conflict.
TEST_P(GivenBackTest, ByAThreadThatAnotherOneWasAheadOf) {
  if (std::get<ClockKind>(GetParam()) == ClockKind::kVirtual) return;
  RunOptions options = Options(Ending::kReserveFails, kNoTimeout);
  options.scheduling_threads = 2;
  ExpectThatTheOtherWasWoken(Run("", std::move(options)));
}

}  // namespace
}  // namespace schedq
