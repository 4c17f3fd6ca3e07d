// Goal: PreQueueingHints narrow per registration, as docs/semantics.md ("PreQueueingHint: narrowing
// per plugin") says, and cost nothing of the outcome.
// Method: plugins whose PreQueueingHints give fixed lists; the Narrowing itself is compared, and
// the counter. The sentences about the claim index use the built-in DynamicResources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/log.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "hints/judge.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

PreQueueingHintFunction Lists(PodList listed) {
  return [listed](const ObjectChange&, PodList* pods) {
    pods->insert(pods->end(), listed.begin(), listed.end());
    return PreHint::kListed;
  };
}

// Appends pods and then answers something else: they must not count.
PreQueueingHintFunction AppendsAndAnswers(PreHint answer) {
  return [answer](const ObjectChange&, PodList* pods) {
    pods->push_back(99);
    return answer;
  };
}

std::vector<std::pair<PodId, RegistrationMask>> Listed(const Narrowing& narrowing) {
  std::vector<std::pair<PodId, RegistrationMask>> pods;
  for (const auto& listed : narrowing.pods) pods.emplace_back(listed.pod, listed.asked);
  return pods;
}

Narrowing NarrowClaimUpdate(std::vector<Plugin> plugins, MetricsRegistry* metrics = nullptr) {
  const PluginRegistry registry = BuildOrDie(std::move(plugins));
  const PluginJudge judge(registry, {.metrics = metrics});
  Narrowing narrowing;
  judge.Narrow(ClaimUpdate(), {ViewOfClaim("c"), ViewOfClaim("c")}, &narrowing);
  return narrowing;
}

TEST(HintsNarrowingTest, AListNarrowsToThesePods) {
  const Narrowing narrowing = NarrowClaimUpdate({ClaimPlugin("A", {}, Lists({7, 3}))});
  EXPECT_EQ(narrowing.asked_of_all, 0u);
  EXPECT_TRUE(narrowing.plugins_of_all.empty());
  EXPECT_THAT(Listed(narrowing), UnorderedElementsAre(Pair(3, 1), Pair(7, 1)));
}

TEST(HintsNarrowingTest, NarrowingIsLoggedAtDebugLevelOnly) {
  const auto narrow = [](PreQueueingHintFunction pre_hint) {
    testing::internal::CaptureStderr();
    NarrowClaimUpdate({ClaimPlugin("A", {}, std::move(pre_hint))});
    return testing::internal::GetCapturedStderr();
  };
  SetLogLevel(LogLevel::kInfo);
  EXPECT_EQ(narrow(Lists({7, 3})), "");
  SetLogLevel(LogLevel::kDebug);
  EXPECT_THAT(narrow(Lists({7, 3})),
              StartsWith("schedq: debug: PreQueueingHint narrowed pod set of "
                         "resource.k8s.io/ResourceClaimUpdate to 2 for plugin A ("));
  EXPECT_EQ(narrow(AppendsAndAnswers(PreHint::kAllPods)), "");
  SetLogLevel(LogLevel::kWarning);
}

TEST(HintsNarrowingTest, AnEmptyListNarrowsToNoPod) {
  const Narrowing narrowing = NarrowClaimUpdate({ClaimPlugin("A", {}, Lists({}))});
  EXPECT_EQ(narrowing.asked_of_all, 0u);
  EXPECT_TRUE(narrowing.plugins_of_all.empty());
  EXPECT_THAT(Listed(narrowing), IsEmpty());
}

TEST(HintsNarrowingTest, APluginWithoutPreQueueingHintBesideOneWithIt) {
  const Narrowing narrowing =
      NarrowClaimUpdate({ClaimPlugin("A", {}, Lists({3})), ClaimPlugin("B", {})});
  EXPECT_EQ(narrowing.asked_of_all, 0b10u);
  EXPECT_EQ(narrowing.plugins_of_all, SetOf({1}));
  EXPECT_THAT(Listed(narrowing), ElementsAre(Pair(3, 0b01)));
}

TEST(HintsNarrowingTest, OneAllPodsCancelsNoOtherPluginsList) {
  const Narrowing narrowing =
      NarrowClaimUpdate({ClaimPlugin("A", {}, AppendsAndAnswers(PreHint::kAllPods)),
                         ClaimPlugin("B", {}, Lists({3}))});
  EXPECT_EQ(narrowing.asked_of_all, 0b01u);
  EXPECT_EQ(narrowing.plugins_of_all, SetOf({0}));
  EXPECT_THAT(Listed(narrowing), ElementsAre(Pair(3, 0b10)));
}

TEST(HintsNarrowingTest, AnErrorIsAllPodsOfThisPlugin) {
  const Narrowing narrowing = NarrowClaimUpdate(
      {ClaimPlugin("A", {}, Lists({3})), ClaimPlugin("B", {}, AppendsAndAnswers(PreHint::kError))});
  EXPECT_EQ(narrowing.asked_of_all, 0b10u);
  EXPECT_EQ(narrowing.plugins_of_all, SetOf({1}));
  EXPECT_THAT(Listed(narrowing), ElementsAre(Pair(3, 0b01)));
}

TEST(HintsNarrowingTest, APodThatSeveralListIsThereOnceWithAllItsBits) {
  const Narrowing narrowing =
      NarrowClaimUpdate({ClaimPlugin("A", {}, Lists({5, 3, 5})), ClaimPlugin("B", {}, Lists({})),
                         ClaimPlugin("C", {}, Lists({4, 3}))});
  EXPECT_THAT(Listed(narrowing),
              UnorderedElementsAre(Pair(3, 0b101), Pair(4, 0b100), Pair(5, 0b001)));
}

TEST(HintsNarrowingTest, RegistrationsOfOnePluginAreNarrowedOneByOne) {
  Plugin plugin = ClaimPlugin("A", {}, Lists({3}));
  plugin.events.push_back({Resource::kResourceClaim, Action::kUpdate, {}, {}});
  const Narrowing narrowing = NarrowClaimUpdate({plugin});
  EXPECT_EQ(narrowing.asked_of_all, 0b10u);
  EXPECT_EQ(narrowing.plugins_of_all, SetOf({0}));
  EXPECT_THAT(Listed(narrowing), ElementsAre(Pair(3, 0b01)));
}

TEST(HintsNarrowingTest, OnlyMatchingRegistrationsAreAskedOnce) {
  int asked = 0;
  const auto counting = [&asked](const ObjectChange&, PodList*) {
    ++asked;
    return PreHint::kListed;
  };
  Plugin plugin = ClaimPlugin("A", {}, counting);
  plugin.events.push_back({Resource::kNode, Action::kAdd, {}, counting});
  NarrowClaimUpdate({plugin});
  EXPECT_EQ(asked, 1);
}

TEST(HintsNarrowingTest, CountsEachPreQueueingHintByItsResult) {
  MetricsRegistry metrics;
  NarrowClaimUpdate(
      {ClaimPlugin("List", {}, Lists({3})), ClaimPlugin("Empty", {}, Lists({})),
       ClaimPlugin("All", {}, AppendsAndAnswers(PreHint::kAllPods)),
       ClaimPlugin("Error", {}, AppendsAndAnswers(PreHint::kError)), ClaimPlugin("None", {})},
      &metrics);
  const auto count = [&](const char* plugin, const char* result) {
    return metrics.Value("scheduler_pre_queueing_hint_evaluations_total", {plugin, result})
        .value_or(0);
  };
  for (const char* narrowed : {"List", "Empty"}) {
    EXPECT_EQ(count(narrowed, "narrowed"), 1) << narrowed;
    EXPECT_EQ(count(narrowed, "all_pods"), 0) << narrowed;
  }
  for (const char* all : {"All", "Error"}) {
    EXPECT_EQ(count(all, "narrowed"), 0) << all;
    EXPECT_EQ(count(all, "all_pods"), 1) << all;
  }
  EXPECT_EQ(count("None", "narrowed") + count("None", "all_pods"), 0);
}

// DynamicResources on ResourceClaim events.
class DynamicResourcesNarrowingTest : public testing::Test {
 protected:
  // The pods that the event is narrowed to; nullopt: all that the plugin rejected.
  std::optional<std::vector<std::string>> PodsFor(Action action, ObjectRef before,
                                                  ObjectRef after) {
    Narrowing narrowing;
    judge_.Narrow(MakeEvent(Resource::kResourceClaim, action), {before, after}, &narrowing);
    if (narrowing.asked_of_all != 0) return std::nullopt;
    std::vector<std::string> pods;
    for (const auto& listed : narrowing.pods) pods.emplace_back(names_.Text(listed.pod));
    return pods;
  }

  Interner names_;
  World world_{&names_};
  const PluginRegistry registry_ = BuildOrDie({DynamicResourcesPlugin(&world_)});
  const PluginJudge judge_{registry_};
};

TEST_F(DynamicResourcesNarrowingTest, AddListsThePodsThatShareTheClaim) {
  const Pod a = MakePod("a", {"shared", "own"});
  const Pod b = MakePod("b", {"shared"});
  Pod c = MakePod("c");
  c.generated_claims = {{"entry", "shared"}, {"none", ""}};
  for (const Pod* pod : std::vector<const Pod*>{&a, &b, &c}) world_.PodChanged(nullptr, pod);
  EXPECT_THAT(*PodsFor(Action::kAdd, nullptr, ViewOfClaim("shared")),
              UnorderedElementsAre("ns/a", "ns/b", "ns/c"));
  EXPECT_THAT(*PodsFor(Action::kAdd, nullptr, ViewOfClaim("own")), ElementsAre("ns/a"));
  world_.PodChanged(&a, nullptr);
  EXPECT_THAT(*PodsFor(Action::kAdd, nullptr, ViewOfClaim("shared")),
              UnorderedElementsAre("ns/b", "ns/c"));
}

TEST_F(DynamicResourcesNarrowingTest, AClaimEventBeforeThePodIsIndexedFindsNothing) {
  EXPECT_THAT(*PodsFor(Action::kAdd, nullptr, ViewOfClaim("c")), IsEmpty());
}

TEST_F(DynamicResourcesNarrowingTest, FreedDevicesConcernAllPods) {
  EXPECT_EQ(PodsFor(Action::kUpdate, ViewOfClaim("c", true), ViewOfClaim("c", false)),
            std::nullopt);
  EXPECT_EQ(PodsFor(Action::kDelete, ViewOfClaim("c", true), nullptr), std::nullopt);
}

TEST_F(DynamicResourcesNarrowingTest, OtherChangesConcernTheClaimsPods) {
  const Pod a = MakePod("a", {"c"});
  world_.PodChanged(nullptr, &a);
  EXPECT_THAT(*PodsFor(Action::kUpdate, ViewOfClaim("c", false), ViewOfClaim("c", true)),
              ElementsAre("ns/a"));
  EXPECT_THAT(*PodsFor(Action::kUpdate, ViewOfClaim("c", true), ViewOfClaim("c", true)),
              ElementsAre("ns/a"));
  EXPECT_THAT(*PodsFor(Action::kDelete, ViewOfClaim("c", false), nullptr), ElementsAre("ns/a"));
}

}  // namespace
}  // namespace schedq::hints_test
