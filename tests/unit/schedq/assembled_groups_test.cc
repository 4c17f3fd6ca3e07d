// Goal: what happens to groups is said once, and world, queue and plugins hear of it in the right
// order; with the gate off nothing is known of groups. Method: each change of a group object and of
// members, with an engine that notes which calls it got and what the world was then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue.h"
#include "hints/groups/group_index.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"
#include "tests/support/queue/forwarding_queue.h"
#include "tests/unit/schedq/group_fixture.h"
#include "tests/unit/schedq/queue_fixture.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Notes the calls about groups, and each event, in their order.
class NotingQueue final : public ForwardingQueue {
 public:
  NotingQueue(std::unique_ptr<SchedulingQueue> inner, const World* world,
              std::vector<std::string>* notes)
      : ForwardingQueue(std::move(inner)), world_(world), notes_(notes) {}

  Status Add(PodRef pod) override {
    Note("Add " + pod->name);
    return ForwardingQueue::Add(std::move(pod));
  }
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override {
    Note(std::string(ResourceName(event.resource)) + "/" + std::string(ActionName(event.action)));
    ForwardingQueue::Event(event, change, pre_check);
  }
  void GroupAdd(PodGroupRef group) override { NoteGroup("GroupAdd", group->key); }
  void GroupUpdate(PodGroupRef group) override { NoteGroup("GroupUpdate", group->key); }
  void GroupDelete(const GroupKey& group) override { NoteGroup("GroupDelete", group); }
  void GroupDone(const GroupKey& root, GroupStatus status) override {
    NoteGroup("GroupDone " + std::to_string(static_cast<int>(status)), root);
  }

 private:
  void Note(const std::string& what) {
    const GroupFacts facts = world_->groups().Of("ns", "g");
    const std::string known = facts.is_known ? std::to_string(facts.min_count) : "unknown";
    notes_->push_back(what + ": " + std::to_string(facts.members) + " of " + known);
  }
  void NoteGroup(const std::string& what, const GroupKey& group) {
    Note(what + (group.kind == GroupKind::kComposite ? " composite " : " ") + group.name);
  }

  const World* const world_;
  std::vector<std::string>* const notes_;
};

class AssembledGroupsTest : public AssembledQueueFixture {
 protected:
  void MakeWith(bool has_groups, bool has_composites) {
    Plugin listener;
    listener.name = "Groups";
    for (const Resource resource :
         {Resource::kPodGroup, Resource::kCompositePodGroup, Resource::kUnscheduledPod}) {
      listener.events.push_back({.resource = resource,
                                 .actions = Action::kAll,
                                 .hint =
                                     [this](const Pod&, const ObjectChange& change) {
                                       changes_.push_back(change);
                                       return Hint::kSkip;
                                     },
                                 .pre_hint = {}});
    }
    AssemblyOptions options = Options({listener});
    options.gates = GatesOfGroups(has_groups, has_composites);
    options.make_queue = [this](QueueOptions of_queue) {
      return std::make_unique<NotingQueue>(MakeQueue(GetParam(), std::move(of_queue)), heard_.world,
                                           &notes_);
    };
    Make(std::move(options));
    MustSucceed(queue_->PodAdded(NewPod("listening")));
    ASSERT_TRUE(queue_->Pop()->Fail(Named("Groups")).ok());
    notes_.clear();
  }
  std::vector<std::string> TakeNotes() { return std::exchange(notes_, {}); }

  std::vector<std::string> notes_;
  std::vector<ObjectChange> changes_;  // That a hint was asked about.
};

TEST_P(AssembledGroupsTest, AGroupComesChangesAndGoes) {
  MakeWith(true, false);
  const PodGroupRef first = NewGroup(3);
  const PodGroupRef second = NewGroup(2);
  queue_->GroupChanged(nullptr, nullptr);
  queue_->GroupChanged(nullptr, first);
  EXPECT_THAT(TakeNotes(), ElementsAre("GroupAdd g: 0 of 3", "PodGroup/Add: 0 of 3"));
  queue_->GroupChanged(first, second);
  EXPECT_THAT(TakeNotes(), ElementsAre("GroupUpdate g: 0 of 2", "PodGroup/Update: 0 of 2"));
  queue_->GroupChanged(second, nullptr);
  EXPECT_THAT(TakeNotes(),
              ElementsAre("GroupDelete g: 0 of unknown", "PodGroup/Delete: 0 of unknown"));
  ASSERT_EQ(changes_.size(), 3u);
  EXPECT_EQ(changes_[0].before, nullptr);
  EXPECT_EQ(changes_[0].after->name, "g");
  EXPECT_EQ(changes_[0].after->namespace_name, "ns");
  EXPECT_EQ(changes_[1].before->min_count, 3);
  EXPECT_EQ(changes_[1].after->min_count, 2);
  EXPECT_EQ(changes_[2].after, nullptr);
}

TEST_P(AssembledGroupsTest, TheStepsSendNoEvents) {
  MakeWith(true, true);
  queue_->GroupAdded(NewGroup(3));
  queue_->GroupUpdated(NewGroup(1));
  queue_->GroupDeleted(NewGroup(1)->key);
  queue_->GroupAdded(NewGroup(0, GroupKind::kComposite));
  queue_->GroupDone(NewGroup(1)->key, GroupStatus::kError);
  EXPECT_THAT(
      TakeNotes(),
      ElementsAre("GroupAdd g: 0 of 3", "GroupUpdate g: 0 of 1", "GroupDelete g: 0 of unknown",
                  "GroupAdd composite g: 0 of unknown", "GroupDone 2 g: 0 of unknown"));
}

TEST_P(AssembledGroupsTest, ACompositeIsKnownWithItsGateOnly) {
  const PodGroupRef composite = NewGroup(0, GroupKind::kComposite);
  MakeWith(true, false);
  queue_->GroupChanged(nullptr, composite);
  queue_->GroupChanged(composite, nullptr);
  EXPECT_THAT(TakeNotes(), IsEmpty());
  MakeWith(true, true);
  queue_->GroupChanged(nullptr, composite);
  EXPECT_THAT(TakeNotes(), ElementsAre("GroupAdd composite g: 0 of unknown",
                                       "CompositePodGroup/Add: 0 of unknown"));
}

// The members of a gang count from their adding to their deletion, bound ones too.
TEST_P(AssembledGroupsTest, MembersComeAreBoundAndGo) {
  MakeWith(true, false);
  const PodRef a = NewMember("a");
  const PodRef b = NewMember("b");
  MustSucceed(queue_->PodChanged(nullptr, a));
  EXPECT_THAT(TakeNotes(), ElementsAre("Add a: 1 of unknown", "UnscheduledPod/Add: 1 of unknown"));
  EXPECT_EQ(changes_.back().after->pod, a);
  EXPECT_EQ(changes_.back().after->resource, Resource::kUnscheduledPod);
  MustSucceed(queue_->PodAdded(b));
  EXPECT_THAT(TakeNotes(), ElementsAre("Add b: 2 of unknown")) << "the step sends no event";
  const auto members = [this] { return heard_.world->groups().Of("ns", "g").members; };
  MustSucceed(queue_->PodChanged(b, OnNode(b, "node")));
  EXPECT_EQ(members(), 2u);
  MustSucceed(queue_->PodChanged(nullptr, OnNode(NewMember("c"), "node")));
  EXPECT_EQ(members(), 3u);
  MustSucceed(queue_->PodChanged(a, VersionOf(a)));
  EXPECT_EQ(members(), 3u);
  MustSucceed(queue_->PodChanged(a, nullptr));
  EXPECT_EQ(members(), 2u);
  MustSucceed(queue_->PodChanged(OnNode(b, "node"), nullptr));
  EXPECT_EQ(members(), 1u);
}

// Of every pod, because a plugin may wait for any.
TEST_P(AssembledGroupsTest, AnyPodThatComesIsAnEvent) {
  MakeWith(true, false);
  MustSucceed(queue_->PodChanged(nullptr, NewPod("a")));
  EXPECT_THAT(TakeNotes(), ElementsAre("Add a: 0 of unknown", "UnscheduledPod/Add: 0 of unknown"));
}

TEST_P(AssembledGroupsTest, WithTheGateOffNothingIsKnownOfGroups) {
  MakeWith(false, false);
  const PodGroupRef group = NewGroup(3);
  queue_->GroupChanged(nullptr, group);
  queue_->GroupChanged(group, group);
  queue_->GroupChanged(group, nullptr);
  EXPECT_THAT(TakeNotes(), IsEmpty());
  MustSucceed(queue_->PodChanged(nullptr, NewMember("a")));
  EXPECT_THAT(TakeNotes(), ElementsAre("Add a: 0 of unknown"));
}

TEST_P(AssembledGroupsTest, AMemberThatIsRefusedCountsNowhere) {
  MakeWith(true, false);
  auto member = std::make_shared<Pod>(*NewMember("a"));
  member->group_name = std::string(Interner::kTextBytesMax, 'g');
  const Status status = queue_->PodChanged(nullptr, member);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), testing::HasSubstr("the name of its group"));
  EXPECT_EQ(PlaceOf("a"), Place::kAbsent);
  EXPECT_THAT(TakeNotes(), IsEmpty()) << "neither queued nor an event";
}

TEST_P(AssembledGroupsTest, AMemberThatTheQueueRefusesCountsNowhere) {
  AssemblyOptions options = Options();
  options.gates = GatesOfGroups();
  options.pods_max = 1;
  Make(std::move(options));
  MustSucceed(queue_->PodAdded(NewMember("a")));
  EXPECT_FALSE(queue_->PodAdded(NewMember("b")).ok());
  EXPECT_EQ(heard_.world->groups().Of("ns", "g").members, 1u);
}

INSTANTIATE_TEST_SUITE_P(Engines, AssembledGroupsTest, testing::ValuesIn(AllEngines()), EngineOf);

}  // namespace
}  // namespace schedq
