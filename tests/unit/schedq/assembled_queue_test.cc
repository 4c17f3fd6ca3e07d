// Goal: whatever happens in the cluster is said once, and world, queue and plugins hear of it in
// the right order. Method: every transition of PodChanged, nodes, claims; a plugin that notes what
// it hears and looks at the world while it does.
#include "schedq/assembled_queue.h"  // IWYU pragma: keep

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"
#include "schedq/engine_kind.h"
#include "tests/unit/schedq/queue_fixture.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AssembledQueueTest : public AssembledQueueFixture {
 protected:
  // With a pod "listening", which the listener rejected.
  void MakeListening() {
    Make(Options());
    AddRejected(NewPod("listening"));
  }
  std::vector<std::string> TakeEvents() { return std::exchange(heard_.events, {}); }
};

TEST_P(AssembledQueueTest, APodComesChangesAndGoes) {
  Make(Options());
  const PodRef first = NewPod("a");
  MustSucceed(queue_->PodChanged(nullptr, first));
  EXPECT_EQ(PlaceOf("a"), Place::kActive);
  auto second = VersionOf(first);
  second->priority = 7;
  MustSucceed(queue_->PodChanged(first, second));
  EXPECT_EQ(queue_->Where("ns/a").pod->priority, 7);
  MustSucceed(queue_->PodChanged(second, nullptr));
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
  MustSucceed(queue_->PodChanged(nullptr, nullptr));
}

TEST_P(AssembledQueueTest, ABoundPodLeavesAndOthersHearOfIt) {
  MakeListening();
  const PodRef pod = NewPod("a");
  MustSucceed(queue_->PodChanged(nullptr, pod));
  std::optional<Attempt> attempt = queue_->TryPop();
  ASSERT_TRUE(attempt->Done().ok());
  const PodRef assigned = OnNode(pod, "node");
  MustSucceed(queue_->PodChanged(pod, assigned));
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
  EXPECT_THAT(TakeEvents(), ElementsAre("AssignedPod/Add"));
  EXPECT_EQ(heard_.changes[0].before, nullptr);
  EXPECT_EQ(heard_.changes[0].after->pod, assigned);
  EXPECT_EQ(heard_.changes[0].after->resource, Resource::kAssignedPod);
}

TEST_P(AssembledQueueTest, AnAssignedPodComesChangesAndGoes) {
  MakeListening();
  const PodRef first = OnNode(NewPod("a"), "node");
  MustSucceed(queue_->PodChanged(nullptr, first));
  EXPECT_THAT(TakeEvents(), ElementsAre("AssignedPod/Add"));
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
  auto second = VersionOf(first);
  second->labels = {{"app", "web"}};
  MustSucceed(queue_->PodChanged(first, second));
  EXPECT_THAT(TakeEvents(), ElementsAre("AssignedPod/UpdatePodLabel"));
  MustSucceed(queue_->PodChanged(second, nullptr));
  EXPECT_THAT(TakeEvents(), ElementsAre("AssignedPod/Delete"));
  EXPECT_EQ(heard_.changes.back().before->pod, second);
  EXPECT_EQ(heard_.changes.back().after, nullptr);
}

TEST_P(AssembledQueueTest, AnAssignedPodThatChangesInTwoWaysIsTwoEvents) {
  MakeListening();
  auto first = VersionOf(OnNode(NewPod("a"), "node"));
  first->requests = {{"cpu", 2}};
  auto second = VersionOf(first);
  second->requests = {{"cpu", 1}};
  second->labels = {{"app", "web"}};
  MustSucceed(queue_->PodChanged(first, second));
  EXPECT_THAT(TakeEvents(),
              ElementsAre("AssignedPod/UpdatePodLabel", "AssignedPod/UpdatePodScaleDown"));
}

TEST_P(AssembledQueueTest, ANodeChangeIsTheEventsThatUpstreamSends) {
  MakeListening();
  const ObjectRef first = NewObject(Resource::kNode, "n");
  queue_->NodeChanged(nullptr, first);
  EXPECT_THAT(TakeEvents(), ElementsAre("Node/Add"));
  auto second = std::make_shared<ObjectView>(*first);
  second->labels = {{"zone", "a"}};
  second->allocatable = {{"cpu", 1}};
  queue_->NodeChanged(first, second);
  EXPECT_THAT(TakeEvents(), ElementsAre("Node/UpdateNodeAllocatable", "Node/UpdateNodeLabel"));
  auto closed = std::make_shared<ObjectView>(*second);
  closed->unschedulable = true;
  queue_->NodeChanged(second, closed);
  EXPECT_THAT(TakeEvents(), IsEmpty());
  queue_->NodeChanged(closed, second);
  EXPECT_THAT(TakeEvents(), ElementsAre("Node/UpdateNodeTaint"));
  queue_->NodeChanged(second, nullptr);
  EXPECT_THAT(TakeEvents(), ElementsAre("Node/Delete"));
}

TEST_P(AssembledQueueTest, AClaimIsKnownFromWhenItComesUntilItGoes) {
  MakeListening();
  const auto exists = [this] { return heard_.world->claim_index().Exists("ns", "c"); };
  const ObjectRef claim = NewObject(Resource::kResourceClaim, "c");
  queue_->ClaimChanged(nullptr, claim);
  EXPECT_TRUE(exists());
  queue_->ClaimChanged(claim, claim);
  EXPECT_TRUE(exists());
  queue_->ClaimChanged(claim, nullptr);
  EXPECT_FALSE(exists());
  EXPECT_THAT(TakeEvents(),
              ElementsAre("ResourceClaim/Add", "ResourceClaim/Update", "ResourceClaim/Delete"));
}

TEST_P(AssembledQueueTest, AnEventThatNobodyRegisteredForIsNotSent) {
  MakeListening();
  const ObjectRef slice = NewObject(Resource::kResourceSlice, "s");
  EXPECT_FALSE(queue_->Event(MakeEvent(Resource::kResourceSlice, Action::kAdd), {nullptr, slice}));
  const ObjectRef claim = NewObject(Resource::kResourceClaim, "c");
  EXPECT_TRUE(queue_->Event(MakeEvent(Resource::kResourceClaim, Action::kAdd), {nullptr, claim}));
}

TEST_P(AssembledQueueTest, APreCheckLeavesPodsOut) {
  MakeListening();
  const ObjectRef node = NewObject(Resource::kNode, "n");
  const ClusterEvent event = MakeEvent(Resource::kNode, Action::kAdd);
  EXPECT_TRUE(queue_->Event(event, {nullptr, node}, [](const Pod&) { return false; }));
  EXPECT_THAT(TakeEvents(), IsEmpty());
}

// PreEnqueue of a pod must find the pod in the world, and a hint the claim that its event is about.
TEST_P(AssembledQueueTest, TheWorldIsToldBeforeTheQueue) {
  std::vector<bool> pod_was_known;
  std::vector<bool> claim_was_known;
  Plugin plugin;
  plugin.name = "Looks";
  const auto looks_up = [this](const Pod& pod) {
    PodList users;
    heard_.world->claim_index().Lookup(pod.namespace_name, "c", &users);
    return !users.empty();
  };
  plugin.pre_enqueue = [&](const Pod& pod, std::string*) {
    pod_was_known.push_back(looks_up(pod));
    return true;
  };
  plugin.events = {{.resource = Resource::kResourceClaim,
                    .actions = Action::kAll,
                    .hint =
                        [&](const Pod&, const ObjectChange&) {
                          claim_was_known.push_back(heard_.world->claim_index().Exists("ns", "c"));
                          return Hint::kSkip;
                        },
                    .pre_hint = {}}};
  Make(Options({plugin}));
  auto pod = NewPod("a");
  pod->claims = {"c"};
  MustSucceed(queue_->PodChanged(nullptr, pod));
  EXPECT_THAT(pod_was_known, ElementsAre(true));
  ASSERT_TRUE(queue_->TryPop()->Fail(Named("Looks")).ok());
  const ObjectRef claim = NewObject(Resource::kResourceClaim, "c");
  queue_->ClaimChanged(nullptr, claim);
  queue_->ClaimChanged(claim, claim);
  queue_->ClaimChanged(claim, nullptr);
  EXPECT_THAT(claim_was_known, ElementsAre(true, true, false));
  PodList users;
  MustSucceed(queue_->PodChanged(pod, nullptr));
  heard_.world->claim_index().Lookup("ns", "c", &users);
  EXPECT_THAT(users, IsEmpty());
}

TEST_P(AssembledQueueTest, ABoundPodUsesItsClaimsNoMore) {
  Make(Options());
  auto pod = NewPod("a");
  pod->claims = {"c"};
  MustSucceed(queue_->PodChanged(nullptr, pod));
  ASSERT_TRUE(queue_->TryPop()->Bind().ok());
  PodList users;
  heard_.world->claim_index().Lookup("ns", "c", &users);
  EXPECT_THAT(users, IsEmpty());
}

TEST_P(AssembledQueueTest, NominatesActivatesAndLists) {
  MakeListening();
  const PodRef pod = queue_->Where("ns/listening").pod;
  MustSucceed(queue_->Nominate(pod, "node"));
  EXPECT_EQ(queue_->NominatedNode(*pod), "node");
  EXPECT_THAT(queue_->NominatedPods("node"), ElementsAre(pod));
  MustSucceed(queue_->Nominate(pod, ""));
  EXPECT_EQ(queue_->NominatedNode(*pod), "");
  EXPECT_THAT(queue_->List(Place::kUnschedulable), ElementsAre(pod));
  const std::array pods = {pod};
  queue_->Activate(pods);
  EXPECT_EQ(PlaceOf("listening"), Place::kActive);
}

TEST_P(AssembledQueueTest, TimePasses) {
  AssemblyOptions options = Options();
  options.max_in_unschedulable = std::chrono::seconds(60);
  Make(std::move(options));
  AddRejected(NewPod("a"));
  queue_->Run();
  clock_.AdvanceBy(std::chrono::minutes(3));
  EXPECT_EQ(PlaceOf("a"), Place::kActive);
}

TEST_P(AssembledQueueTest, CloseWakesWhoWaits) {
  Make(Options());
  std::optional<Attempt> popped;
  std::thread waiting([&] { popped = queue_->Pop(); });
  queue_->Close();
  waiting.join();
  EXPECT_FALSE(popped.has_value());
  EXPECT_FALSE(queue_->Pop(std::chrono::milliseconds(1)).has_value());
}

TEST_P(AssembledQueueTest, CloseEndsOpenAttempts) {
  Make(Options());
  MustSucceed(queue_->PodAdded(NewPod("a")));
  std::optional<Attempt> attempt = queue_->TryPop();
  queue_->Close();
  EXPECT_EQ(queue_->Counts().in_flight, 0u);
  attempt.reset();  // It may end after the queue was closed, as long as the queue lives.
}

TEST_P(AssembledQueueTest, NamesPluginsAndRefusesOthers) {
  Make(Options());
  const std::array<std::string_view, 2> names = {"Listener", "Nobody"};
  const Result<PluginSet> plugins = queue_->Plugins(names);
  ASSERT_FALSE(plugins.ok());
  EXPECT_EQ(plugins.error().message(), "unknown plugin Nobody");
  EXPECT_THAT(queue_->PluginNames(), ElementsAre("Listener"));
}

TEST_P(AssembledQueueTest, ShowsItsMetricsAndGates) {
  MakeListening();
  const std::string text = queue_->MetricsText();
  EXPECT_THAT(text, HasSubstr("scheduler_pending_pods{queue=\"unschedulable\"} 1"));
  EXPECT_THAT(text, HasSubstr("kubernetes_feature_enabled"));
}

TEST_P(AssembledQueueTest, HasAClockAndPluginsOfItsOwn) {
  AssemblyOptions options;
  options.engine = GetParam();
  Make(std::move(options));
  EXPECT_THAT(queue_->PluginNames(), testing::Contains("NodeResourcesFit"));
  EXPECT_EQ(queue_->api_calls(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Engines, AssembledQueueTest, testing::ValuesIn(AllEngines()), EngineOf);

}  // namespace
}  // namespace schedq
