// Goal: the operations of a trace of version 2 reach the engine and the plugins' world one by one,
// and what a Pop of a group gives comes out in the words of the trace.
// Method: the replayer runs over an engine that notes its calls and answers a Pop with the group
// that the case gives it, so that no engine's groups are needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod_group.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "hints/world.h"
#include "schedq/engine_kind.h"
#include "tests/support/queue/forwarding_queue.h"
#include "tests/unit/bench/format/trace_groups_header.h"

namespace schedq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The calls about groups that it got, and what its next Pop gives.
struct Script {
  std::vector<std::string> calls;
  std::vector<ObjectChange> changes;
  std::vector<std::string> pops;  // The members of the group "ns/g".
};

class ScriptedQueue final : public ForwardingQueue {
 public:
  ScriptedQueue(std::unique_ptr<SchedulingQueue> inner, Script* script)
      : ForwardingQueue(std::move(inner)), script_(script) {}

  void Event(const ClusterEvent&, const ObjectChange& change, const PreCheck&) override {
    script_->changes.push_back(change);
  }
  void GroupAdd(PodGroupRef group) override { Note("add", group->key, group.get()); }
  void GroupUpdate(PodGroupRef group) override { Note("update", group->key, group.get()); }
  void GroupDelete(const GroupKey& group) override { Note("delete", group, nullptr); }
  void GroupDone(const GroupKey& root, GroupStatus status) override {
    Note("done:" + std::string(GroupStatusName(status)), root, nullptr);
  }
  std::optional<PoppedPod> TryPop() override {
    if (script_->pops.empty()) return ForwardingQueue::TryPop();
    auto group = std::make_shared<PoppedGroup>();
    group->root = {GroupKind::kPodGroup, "ns", "g"};
    PoppedPod popped;
    popped.cycle = 7;
    popped.fields.attempts = 3;
    for (const std::string& name : std::exchange(script_->pops, {})) {
      const PodWhereabouts where = Where(name);
      PoppedPod member;
      member.pod = where.pod;
      member.key = KeyOf(*where.pod);
      member.fields.attempts = static_cast<uint32_t>(group->members.size()) + 1;
      group->members.push_back(member);
    }
    popped.group = std::move(group);
    return popped;
  }

 private:
  void Note(const std::string& what, const GroupKey& key, const PodGroup* group) {
    std::string note = what + (key.kind == GroupKind::kComposite ? " composite " : " ") +
                       key.namespace_name + "/" + key.name;
    if (group != nullptr) {
      note += " " + std::to_string(group->priority) + " " + std::to_string(group->min_count) + " " +
              group->parent;
    }
    script_->calls.push_back(note);
  }

  Script* const script_;
};

class TraceReplayOfGroups : public testing::Test {
 protected:
  void SetUp() override {
    // Without the plugin, so that no member waits for its gang.
    const std::string header = kHeaderOfGroups;
    const size_t plugins = header.find("[{\"events\"");
    const size_t end = header.find("],\"pod_initial");
    auto made = Replayer::Create(
        *ParseTraceHeader(header.substr(0, plugins + 1) +
                          R"({"name":"P","events":[{"on":"*","actions":["All"]}]})" +
                          header.substr(end)),
        [this](QueueOptions options) {
          return std::make_unique<ScriptedQueue>(
              MakeQueue(EngineKind::kClassic, std::move(options)), &script_);
        });
    ASSERT_TRUE(made.ok()) << made.error().message();
    replayer_ = std::move(*made);
  }

  TraceOutcome Apply(const std::string& line) {
    const Result<TraceOutcome> outcome = replayer_->Apply(*ParseTraceOperation(line, 2));
    EXPECT_TRUE(outcome.ok()) << line << ": " << outcome.error().message();
    return outcome.ok() ? *outcome : TraceOutcome();
  }
  std::string ErrorOf(const std::string& line) {
    const Result<TraceOutcome> outcome = replayer_->Apply(*ParseTraceOperation(line, 2));
    return outcome.ok() ? "accepted: " + line : outcome.error().message();
  }
  static std::string GroupLine(const std::string& op, const std::string& name,
                               const std::string& space = "ns") {
    return R"({"op":")" + op + R"(","t":1,"group":{"name":")" + name + R"(","namespace":")" +
           space + R"(","priority":4,"parent":"up"}})";
  }
  static std::string DeleteLine(const std::string& op, const std::string& name) {
    return R"({"op":")" + op + R"(","t":1,"namespace":"ns","group":")" + name + "\"}";
  }
  static std::string DoneLine(const std::string& name, const std::string& status = "success") {
    return R"({"op":"group_done","t":1,"group":")" + name + R"(","status":")" + status + "\"}";
  }
  static std::string AddLine(const std::string& name, const std::string& space = "ns") {
    return R"({"op":"add","t":1,"pod":{"group":"g","name":")" + name + R"(","namespace":")" +
           space + R"(","uid":"u-)" + name + "\"}}";
  }

  Script script_;
  std::unique_ptr<Replayer> replayer_;
};

TEST_F(TraceReplayOfGroups, GivesGroupOperationsToTheEngine) {
  Apply(GroupLine("composite_add", "c"));
  Apply(R"({"op":"group_add","t":1,"group":{"name":"g","namespace":"ns","min_count":2}})");
  Apply(R"({"op":"group_update","t":1,"group":{"name":"g","namespace":"ns","min_count":1}})");
  Apply(GroupLine("composite_update", "c"));
  Apply(DoneLine("g"));
  Apply(DoneLine("ns/c", "error"));
  Apply(DeleteLine("group_delete", "g"));
  Apply(DeleteLine("composite_delete", "c"));
  Apply(DoneLine("g", "unschedulable"));  // Its object is gone.
  EXPECT_THAT(
      script_.calls,
      ElementsAre("add composite ns/c 4 0 up", "add ns/g 0 2 ", "update ns/g 0 1 ",
                  "update composite ns/c 4 0 up", "done:success ns/g", "done:error composite ns/c",
                  "delete ns/g", "delete composite ns/c", "done:unschedulable ns/g"));
}

TEST_F(TraceReplayOfGroups, RefusesImpossibleOperations) {
  EXPECT_THAT(ErrorOf(GroupLine("group_update", "g")), HasSubstr("group ns/g is not known"));
  EXPECT_THAT(ErrorOf(DeleteLine("group_delete", "g")), HasSubstr("group ns/g is not known"));
  EXPECT_THAT(ErrorOf(DeleteLine("composite_delete", "g")),
              HasSubstr("composite ns/g is not known"));
  EXPECT_THAT(ErrorOf(DoneLine("g")), HasSubstr("no group named g was added"));
  Apply(GroupLine("group_add", "g"));
  EXPECT_THAT(ErrorOf(GroupLine("group_add", "g")), HasSubstr("is known already"));
  EXPECT_THAT(ErrorOf(GroupLine("composite_update", "g")),
              HasSubstr("composite ns/g is not known"));
  Apply(DeleteLine("group_delete", "g"));
  EXPECT_THAT(ErrorOf(GroupLine("group_update", "g")), HasSubstr("is not known"));
  Apply(GroupLine("group_add", "g"));
  Apply(GroupLine("group_add", "g", "other"));
  EXPECT_THAT(ErrorOf(DoneLine("g")), HasSubstr("several groups are named g"));
  Apply(DoneLine("other/g"));
}

TEST_F(TraceReplayOfGroups, APopGivesTheGroupAndItsMembers) {
  Apply(GroupLine("group_add", "g"));
  Apply(AddLine("a"));
  Apply(AddLine("b"));
  script_.pops = {"ns/b", "ns/a"};
  const TraceOutcome outcome = Apply(R"({"op":"pop","t":1})");
  EXPECT_EQ(outcome.popped, std::nullopt);
  EXPECT_EQ(outcome.popped_group, "g");
  EXPECT_THAT(outcome.members, ElementsAre("b", "a"));
  EXPECT_THAT(outcome.member_attempts, ElementsAre(1, 2));
  EXPECT_EQ(outcome.attempts, 3);
  EXPECT_EQ(outcome.cycle, 7);
  // The members are in flight, each by itself.
  Apply(R"({"op":"delete","t":1,"pod":"b"})");
  Apply(R"({"op":"fail","t":1,"pod":"b"})");
  EXPECT_THAT(ErrorOf(R"({"op":"fail","t":1,"pod":"b"})"), HasSubstr("neither live nor in flight"));
}

TEST_F(TraceReplayOfGroups, NamesThatRepeatAreToldWithTheirNamespaces) {
  Apply(GroupLine("group_add", "g"));
  Apply(GroupLine("composite_add", "g", "other"));
  Apply(AddLine("a"));
  Apply(AddLine("a", "other"));
  script_.pops = {"ns/a", "other/a"};
  const TraceOutcome outcome = Apply(R"({"op":"pop","t":1})");
  EXPECT_EQ(outcome.popped_group, "ns/g");
  EXPECT_THAT(outcome.members, ElementsAre("ns/a", "other/a"));
}

TEST_F(TraceReplayOfGroups, EventsCarryGroupsAndMinimumCounts) {
  const auto event = [&](const std::string& on, const std::string& action) {
    Apply(R"({"op":"event","t":1,"on":")" + on + R"(","action":")" + action +
          R"(","object":{"name":"x","group":"g","min_count":1,"old_min_count":2}})");
    return script_.changes.back();
  };
  const ObjectChange updated = event("PodGroup", "Update");
  EXPECT_EQ(updated.before->min_count, 2);
  EXPECT_EQ(updated.after->min_count, 1);
  EXPECT_EQ(event("PodGroup", "Add").after->min_count, 1);
  EXPECT_EQ(event("PodGroup", "Delete").before->min_count, 1);
  EXPECT_EQ(event("UnscheduledPod", "Add").after->group_name, "g");
}

// A trace's own lines say which members there are: PreEnqueue sees them.
TEST(TraceReplayOfGang, MembersAndObjectsOpenTheGang) {
  const auto replayer = Replayer::Create(*ParseTraceHeader(kHeaderOfGroups), EngineKind::kClassic);
  ASSERT_TRUE(replayer.ok()) << replayer.error().message();
  const World& world = (*replayer)->world();
  const auto apply = [&](const std::string& line) {
    ASSERT_TRUE((*replayer)->Apply(*ParseTraceOperation(line, 2)).ok()) << line;
  };
  apply(R"({"op":"add","t":1,"pod":{"name":"a","uid":"u","namespace":"ns","group":"g"}})");
  apply(R"({"op":"group_add","t":1,"group":{"name":"g","namespace":"ns","min_count":2}})");
  EXPECT_EQ(world.groups().Of("ns", "g").min_count, 2);
  EXPECT_EQ(world.groups().Of("ns", "g").members, 1u);
  apply(R"({"op":"bind","t":1,"pod":"a"})");
  EXPECT_EQ(world.groups().Of("ns", "g").members, 1u) << "a bound member counts";
  apply(R"({"op":"add","t":1,"pod":{"name":"b","uid":"v","namespace":"ns","group":"g"}})");
  apply(R"({"op":"delete","t":1,"pod":"b"})");
  EXPECT_EQ(world.groups().Of("ns", "g").members, 1u);
}

}  // namespace
}  // namespace schedq
