// Goal: the wait for a pod's volumes ends well where each claim is bound as its attempt assumed,
// and fails at once where that cannot be any more.
// Method: one pod with a claim, whose volume is chosen or made; what the cluster does is done by
// hand, at a time of the wait.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/plugins/plugins.h"
#include "bench/sim/placing/volumes/volume_book.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using std::chrono::seconds;

class VolumeBindingTest : public testing::Test {
 protected:
  // How a binding ended, and after how long a wait.
  struct End {
    bool is_bound = false;
    Duration waited{};
    bool operator==(const End&) const = default;
  };

  VolumeBindingTest() {
    Create("Node", "name: n, labels: {zone: a}", "status: {capacity: {pods: '9'}}");
    Create("Pod", "name: p", "spec: {containers: [{name: c}]}");
    Create("PersistentVolumeClaim", "name: c", "spec: {accessModes: [ReadWriteOnce]}");
    for (const char* zone : {"a", "b"}) {
      for (const char* number : {"1", "2"}) {
        Create("PersistentVolume", std::string("name: ") + zone + number,
               "spec: {capacity: {storage: 1}, nodeAffinity: {required: {nodeSelectorTerms: "
               "[{matchExpressions: [{key: zone, operator: In, values: [" +
                   std::string(zone) + "]}]}]}}}");
      }
    }
  }
  void Create(const std::string& kind, const std::string& metadata, const std::string& rest) {
    const auto object = ObjectFrom("apiVersion: v1\nkind: " + kind + "\nmetadata: {" + metadata +
                                   "}\n" + rest + "\n");
    const auto created = cluster_.Create(object, "ns");
    ASSERT_TRUE(created.ok()) << created.error().message();
  }
  void BindTo(const std::string& volume, bool names_volume = true) {
    if (names_volume) GiveVolume(volume, "ns/c");
    cluster_.storage().UpdateClaim("ns/c", [&](ClusterVolumeClaim* claim) {
      claim->spec.volume_name = volume;
      claim->is_bound = true;
    });
  }
  void GiveVolume(const std::string& volume, const std::string& claim) {
    cluster_.storage().UpdateVolume(volume,
                                    [&](ClusterVolume* after) { after->spec.claim = claim; });
  }
  void Select(const std::string& node) {
    cluster_.storage().UpdateClaim("ns/c",
                                   [&](ClusterVolumeClaim* claim) { claim->selected_node = node; });
  }
  // `meanwhile` happens two and a half seconds into the wait.
  End Bind(VolumeDecision volumes, const std::function<void()>& meanwhile) {
    PlacingTools tools;
    tools.volumes = &book_;
    tools.profile.volume_bind_timeout = timeout_;
    const PlacingPluginRef plugin = MakeVolumeBinding(tools);
    Decision decision;
    decision.node = "n";
    decision.volumes = std::make_shared<const VolumeDecision>(std::move(volumes));
    const ClusterPodRef pod = cluster_.FindPod(1);
    Duration waited{};
    for (size_t step = 0; step < plugin->PreBindPreFlight(decision); ++step) {
      for (;;) {
        const Duration delay = plugin->PreBindDelay(step, waited, cluster_, *pod, decision);
        if (delay == Duration(0)) break;
        waited += delay;
        if (waited > kMeanwhile && waited - delay <= kMeanwhile) meanwhile();
      }
      if (!plugin->PreBind(step, &cluster_, *pod, decision)) return {false, waited};
    }
    return {true, waited};
  }
  End BindToA1(const std::function<void()>& meanwhile) {
    return Bind({.bindings = {{"ns/c", "a1"}}, .to_provision = {}}, meanwhile);
  }
  End Provision(const std::function<void()>& meanwhile) {
    return Bind({.bindings = {}, .to_provision = {"ns/c"}}, meanwhile);
  }

  static constexpr Duration kMeanwhile = std::chrono::milliseconds(2500);
  static constexpr End kBound = {true, seconds(3)};
  static constexpr End kFailed = {false, seconds(3)};

  VirtualClock clock_{Instant()};
  Cluster cluster_{{&clock_, std::chrono::milliseconds(1), true}};
  VolumeBook book_;
  Duration timeout_ = std::chrono::minutes(10);
};

TEST_F(VolumeBindingTest, AClaimIsToBeBoundToThePromisedVolume) {
  EXPECT_EQ(BindToA1([&] { BindTo("a1"); }), kBound);
  EXPECT_EQ(cluster_.storage().FindVolume("a1")->spec.claim, "ns/c") << "it was stored";
}

TEST_F(VolumeBindingTest, AnotherVolumeThanThePromisedOneFails) {
  EXPECT_EQ(BindToA1([&] { BindTo("a2"); }), kFailed);
}

TEST_F(VolumeBindingTest, APromisedVolumeThatIsTakenAwayFails) {
  EXPECT_EQ(BindToA1([&] { GiveVolume("a1", ""); }), kFailed);
}

TEST_F(VolumeBindingTest, APromisedVolumeThatTheNodeDoesNotReachFails) {
  EXPECT_EQ(Bind({.bindings = {{"ns/c", "b1"}}, .to_provision = {}}, [&] { BindTo("b1"); }),
            (End{false, seconds(1)}))
      << "at the first look";
}

TEST_F(VolumeBindingTest, AVolumeOrClaimThatGoesFails) {
  EXPECT_EQ(BindToA1([&] { cluster_.Delete({"PersistentVolume", "", "a1"}); }), kFailed);
}

TEST_F(VolumeBindingTest, AClaimThatGoesFails) {
  EXPECT_EQ(Provision([&] { cluster_.Delete({"PersistentVolumeClaim", "ns", "c"}); }), kFailed);
}

TEST_F(VolumeBindingTest, ANodeThatGoesFails) {
  EXPECT_EQ(BindToA1([&] { cluster_.Delete({"Node", "", "n"}); }), kFailed);
}

TEST_F(VolumeBindingTest, AVolumeThatIsMadeIsToBeReached) {
  EXPECT_EQ(Provision([&] { BindTo("a2"); }), kBound);
  EXPECT_EQ(cluster_.storage().FindClaim("ns/c")->selected_node, "n") << "it was stored";
}

TEST_F(VolumeBindingTest, AVolumeThatIsMadeElsewhereFails) {
  EXPECT_EQ(Provision([&] { BindTo("b1"); }), kFailed);
}

TEST_F(VolumeBindingTest, ANodeThatIsNotSelectedAnyMoreFails) {
  EXPECT_EQ(Provision([&] { Select(""); }), kFailed) << "the provisioner has given up";
}

TEST_F(VolumeBindingTest, PatienceEndsAsTheArgumentSays) {
  EXPECT_EQ(BindToA1([] {}), (End{false, std::chrono::minutes(10)}));
  timeout_ = seconds(7);
  EXPECT_EQ(BindToA1([] {}), (End{false, seconds(7)}));
  timeout_ = seconds(0);
  EXPECT_EQ(BindToA1([] {}), (End{false, seconds(0)}));
}

}  // namespace
}  // namespace schedq
