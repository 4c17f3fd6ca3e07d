// Goal: a recorded run with groups replays without a mismatch, and one without groups is version 1.
// Method: an assembled queue is driven through the life of groups while it is recorded, so that the
// recorder is told of each operation as a run tells it; each line is then replayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/trace/expectation.h"
#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "bench/sim/queue/trace_recorder.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/world.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A queue on a virtual clock that is recorded: every call goes to the queue, then to the recorder.
class RecordedGroups : public testing::TestWithParam<EngineKind> {
 protected:
  void Make(bool has_groups) {
    GateRequest request;
    request.Set(Gate::kGenericWorkload, has_groups);
    request.Set(Gate::kCompositePodGroup, has_groups);
    AssemblyOptions options;
    options.engine = GetParam();
    options.clock = &clock_;
    options.gates = *Gates::Resolve(request);
    options.observers = {&recorder_};
    options.plugins = [this, gates = options.gates](World* world) {
      std::vector<Plugin> plugins = BuiltinPlugins(world, gates);
      for (Plugin& plugin : plugins) plugin = recorder_.answers().Record(std::move(plugin));
      return plugins;
    };
    RecordedQueue recorded = {.clock = &clock_,
                              .gates = options.gates,
                              .backoff = options.backoff,
                              .max_in_unschedulable = options.max_in_unschedulable};
    auto made = AssembledQueue::Create(std::move(options));
    ASSERT_TRUE(made.ok()) << made.error().message();
    queue_ = std::move(*made);
    recorded.queue = &queue_->queue();
    recorded.plugins = &queue_->plugins();
    recorder_.Begin(recorded);
  }

  void Tick(int milliseconds = 10) {
    clock_.AdvanceTo(clock_.Now() + std::chrono::milliseconds(milliseconds));
  }
  PodRef Add(const std::string& name, const std::string& group) {
    Tick();
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "ns";
    pod->name = name;
    pod->uid = "uid-" + name;
    pod->group_name = group;
    MustSucceed(queue_->PodAdded(pod));
    recorder_.Added(pod);
    auto view = std::make_shared<ObjectView>();
    view->resource = Resource::kUnscheduledPod;
    view->namespace_name = "ns";
    view->name = name;
    view->pod = pod;
    Event(Resource::kUnscheduledPod, Action::kAdd, {nullptr, view});
    return pod;
  }
  void Event(Resource resource, Action action, const ObjectChange& change) {
    const ClusterEvent event = MakeEvent(resource, action);
    if (queue_->Event(event, change)) recorder_.EventHandled(event, change);
  }
  static PodGroupRef Group(const std::string& name, int64_t min_count, const std::string& parent,
                           GroupKind kind = GroupKind::kPodGroup) {
    auto group = std::make_shared<PodGroup>();
    group->key = {kind, "ns", name};
    group->min_count = min_count;
    group->parent = parent;
    return group;
  }
  static ObjectRef View(const PodGroupRef& group) {
    auto view = std::make_shared<ObjectView>();
    view->resource = Resource::kPodGroup;
    view->namespace_name = group->key.namespace_name;
    view->name = group->key.name;
    view->min_count = group->min_count;
    return view;
  }
  void AddGroup(const PodGroupRef& group) {
    Tick();
    queue_->GroupAdded(group);
    recorder_.GroupAdded(group);
  }
  std::optional<PoppedPod> Pop() {
    Tick();
    std::optional<PoppedPod> popped = queue_->queue().TryPop();
    recorder_.Popped(popped);
    return popped;
  }
  void Fail(const PoppedPod& pod, PluginSet plugins) {
    Tick();
    static_cast<void>(queue_->queue().Fail(pod.key, plugins, PluginSet()));
    recorder_.Failed(pod, plugins);
  }
  // Fails every member of what is popped, and ends the cycle.
  void PopAndFailAll() {
    while (const std::optional<PoppedPod> popped = Pop()) {
      if (popped->group == nullptr) {
        Fail(*popped, Fit());
        continue;
      }
      for (const PoppedPod& member : popped->group->members) Fail(member, Fit());
      queue_->GroupDone(popped->group->root, GroupStatus::kUnschedulable);
      recorder_.GroupEnded(popped->group->root, GroupStatus::kUnschedulable);
    }
  }
  PluginSet Fit() const { return PluginSet::Of(*queue_->plugins().Find("NodeResourcesFit")); }

  void ExpectReplays() {
    const Result<TraceHeader> header = ParseTraceHeader(lines_[0]);
    ASSERT_TRUE(header.ok()) << header.error().message();
    const auto replayer = Replayer::Create(*header, GetParam());
    ASSERT_TRUE(replayer.ok()) << replayer.error().message();
    for (size_t i = 1; i < lines_.size(); ++i) {
      const auto operation = ParseTraceOperation(lines_[i], header->version);
      ASSERT_TRUE(operation.ok()) << lines_[i] << ": " << operation.error().message();
      const auto outcome = (*replayer)->Apply(*operation);
      ASSERT_TRUE(outcome.ok()) << lines_[i] << ": " << outcome.error().message();
      EXPECT_THAT(Differences(operation->op, *operation->want, *outcome), testing::IsEmpty())
          << lines_[i];
    }
  }

  std::vector<std::string> lines_;
  TraceRecorder recorder_{[this](const std::string& line) { lines_.push_back(line); }};
  VirtualClock clock_{Instant(std::chrono::seconds(1767225600) + std::chrono::milliseconds(300))};
  std::unique_ptr<AssembledQueue> queue_;
};
INSTANTIATE_TEST_SUITE_P(Engines, RecordedGroups, testing::ValuesIn(AllEngines()),
                         [](const testing::TestParamInfo<EngineKind>& info) {
                           return std::string(EngineName(info.param));
                         });

TEST_P(RecordedGroups, ReplayWithoutAMismatch) {
  Make(true);
  const PodRef early = Add("early", "gang");
  const PodGroupRef gang = Group("gang", 3, "");
  AddGroup(gang);
  Event(Resource::kPodGroup, Action::kAdd, {nullptr, View(gang)});
  Add("second", "gang");
  Add("single", "");
  AddGroup(Group("top", 0, "", GroupKind::kComposite));
  AddGroup(Group("leaf", 0, "top"));
  Add("below", "leaf");
  const PodGroupRef smaller = Group("gang", 2, "");
  Tick();
  queue_->GroupUpdated(smaller);
  recorder_.GroupUpdated(smaller);
  Event(Resource::kPodGroup, Action::kUpdate, {View(gang), View(smaller)});
  PopAndFailAll();
  Tick(3000);
  queue_->FlushBackoff();
  recorder_.Flushed(TraceOp::kFlushBackoff);
  PopAndFailAll();
  Tick();
  queue_->PodDeleted(early);
  recorder_.Deleted(early);
  queue_->GroupDeleted(smaller->key);
  recorder_.GroupDeleted(smaller->key);
  const GroupKey top = {GroupKind::kComposite, "ns", "top"};
  queue_->GroupDeleted(top);
  recorder_.GroupDeleted(top);
  recorder_.End();

  EXPECT_THAT(lines_[0], HasSubstr("\"schedq_trace\":2"));
  std::string all;
  for (const std::string& line : lines_) all += line + "\n";
  for (const char* text :
       {"\"op\":\"group_add\"", "\"op\":\"group_update\"", "\"op\":\"group_delete\"",
        "\"op\":\"composite_add\"", "\"op\":\"composite_delete\"", "\"old_min_count\":3",
        "\"group\":\"gang\"", "\"parent\":\"top\"", "\"queue_incoming_entities_total\""}) {
    EXPECT_THAT(all, HasSubstr(text));
  }
  ExpectReplays();
}

TEST_P(RecordedGroups, AreLeftOutWhereTheGateIsOff) {
  Make(false);
  Add("member", "gang");
  AddGroup(Group("gang", 2, ""));
  PopAndFailAll();
  recorder_.GroupUpdated(Group("gang", 1, ""));
  recorder_.GroupDeleted(Group("gang", 1, "")->key);
  recorder_.End();
  EXPECT_THAT(lines_[0], HasSubstr("\"schedq_trace\":1"));
  for (const std::string& line : lines_) EXPECT_THAT(line, Not(HasSubstr("gang")));
  ExpectReplays();
}

}  // namespace
}  // namespace schedq
