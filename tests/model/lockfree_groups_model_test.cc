// Goal: operations on members and groups are single moments, whichever thread is stopped: what the
// other threads' operations have returned is what one queue behind a lock would have returned.
// Method: as lockfree_history_model_test.cc, with one group of two members: histories are judged
// against a sequential specification while the other thread is frozen at each of its steps, and
// pairs of operations that meet are explored with preemptions, and with stale reads. An engine that
// leaves a debt of the groups' state unpaid must be caught.
#include "tests/model/lockfree_groups_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/lockfree/groups/group_publisher.h"
#include "engine/lockfree/groups/group_state.h"
#include "engine/lockfree/moves/move_finisher.h"
#include "engine/lockfree/operations/group_operations.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "tests/model/lockfree_queue_model.h"
#include "tests/support/history.h"
#include "tests/support/linearizability.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/happens_before.h"

namespace schedq {

using GroupStep = GroupSpec::Operation;
using GroupSteps = std::vector<GroupStep>;

// Engines that leave one thing undone.
struct PaysNoDebt : ModelQueueShape {};
struct PaysOnlyWhatItPops : ModelQueueShape {};
struct AsksNoSecondTime : ModelQueueShape {};

template <>
void GroupOperations<ModelParts<PaysNoDebt>>::FinishForOthers(std::exception_ptr*) {}
template <>
bool MoveFinisher<ModelParts<PaysNoDebt>>::FinishAll() {
  return false;
}
// A pop that finds nothing pays all the same.
template <>
void GroupOperations<ModelParts<PaysOnlyWhatItPops>>::FinishForOthers(std::exception_ptr*) {}
// Takes the debt of a gated group for paid.
template <>
bool GroupPublisher<ModelParts<AsksNoSecondTime>>::IsGroupOvertaken(const RootState&) const {
  return false;
}

namespace {

using model::Report;

template <typename Shape>
class RecordedGroup {
 public:
  explicit RecordedGroup(uint32_t threads)
      : scene_(Duration(0), true), recorder_(threads + 1), single_(MakeSingle()) {}

  void Run(uint32_t thread, const GroupSteps& steps) {
    for (const GroupStep& step : steps) RunStep(thread, step);
  }
  // Pops all there is and judges what was recorded, other threads' unfinished operations included.
  void PopAllAndJudge(uint32_t thread) {
    while (RunStep(thread, {GroupDeed::kPop, 0}) != GroupSpec::kNothing) {
    }
    const Linearizability verdict = CheckLinearizable(recorder_.History());
    MODEL_CHECK(verdict.holds, verdict.explanation);
  }
  void JudgeState() {
    scene_.queue().Delete(*single_);
    scene_.JudgeGroups();
  }
  // No thread works on the queue any more, and none has popped.
  void JudgeNames() {
    std::multiset<std::string> names;
    for (const Place place : {Place::kActive, Place::kGated, Place::kIncomplete, Place::kPending}) {
      for (const PodRef& pod : scene_.queue().List(place)) names.insert(pod->name);
    }
    MODEL_CHECK(names.count(single_->name) == 1, "a name has one pod");
  }

 private:
  // Its priority is lower than the group's.
  static PodRef MakeSingle() {
    auto single = std::make_shared<Pod>(*ModelScene<Shape>::MakeVersion(0, -1, "single"));
    single->uid = "single";
    return single;
  }
  int RunStep(uint32_t thread, const GroupStep& step) {
    const auto call = [&] { return Do(step); };
    // A pod that takes another one's name: first that one goes.
    if (step.deed == GroupDeed::kAddSingle) {
      return recorder_.RecordTwo(thread, {GroupDeed::kDelete, 0}, GroupSpec::kNothing, step, call);
    }
    if (step.deed == GroupDeed::kTakeName) {
      return recorder_.RecordTwo(thread, {GroupDeed::kDeleteSingle}, GroupSpec::kNothing, step,
                                 call);
    }
    return recorder_.Record(thread, step, call);
  }
  int Do(const GroupStep& step) {
    auto& queue = scene_.queue();
    const PodGroupRef group = ModelScene<Shape>::GroupOfAll();
    switch (step.deed) {
      case GroupDeed::kAdd:
        scene_.Add(step.pod);
        break;
      case GroupDeed::kDelete:
        scene_.Delete(step.pod);
        break;
      case GroupDeed::kFail: {
        const Status failed = queue.Fail(scene_.Key(step.pod), PluginSet::Of(kFilter), {});
        return failed ? GroupSpec::kNothing : GroupSpec::kRefused;
      }
      case GroupDeed::kDone:
        queue.Done(scene_.Key(step.pod));
        break;
      case GroupDeed::kActivate:
        scene_.Activate(step.pod);
        break;
      case GroupDeed::kGroupAdd:
        queue.GroupAdd(group);
        break;
      case GroupDeed::kGroupDelete:
        queue.GroupDelete(group->key);
        break;
      case GroupDeed::kGroupDone:
        queue.GroupDone(group->key, GroupStatus::kUnschedulable);
        break;
      case GroupDeed::kClose:
        scene_.world.is_open.store(false);
        break;
      case GroupDeed::kOpen:
        scene_.Open();
        break;
      case GroupDeed::kPop:
        return Pop();
      case GroupDeed::kAddSingle:
        MustSucceed(queue.Add(single_));
        break;
      case GroupDeed::kDeleteSingle:
        queue.Delete(*single_);
        break;
      case GroupDeed::kTakeName:
        scene_.Add(0);
        break;
    }
    return GroupSpec::kNothing;
  }
  int Pop() {
    const std::optional<PoppedPod> popped = scene_.queue().TryPop();
    if (!popped) return GroupSpec::kNothing;
    if (popped->group == nullptr) return GroupSpec::kSingle;
    int members = 0;
    for (const PoppedPod& member : popped->group->members) {
      members |= 1 << (member.pod->name[0] - 'a');
    }
    return members;
  }

  ModelScene<Shape> scene_;
  Recorder<GroupSpec, model::ExecutionOrder> recorder_;
  const PodRef single_;
};

struct GroupBeginning {
  const char* name;
  GroupSteps steps;
  GroupSteps deeds;
};

const GroupSteps kInCycle = {
    {GroupDeed::kGroupAdd}, {GroupDeed::kAdd, 0}, {GroupDeed::kAdd, 1}, {GroupDeed::kPop}};

const std::vector<GroupBeginning>& GroupBeginnings() {
  static const std::vector<GroupBeginning> kAll = {
      {"no group object",
       {{GroupDeed::kAdd, 0}},
       {{GroupDeed::kAdd, 1}, {GroupDeed::kGroupAdd}, {GroupDeed::kDelete, 0}, {GroupDeed::kPop}}},
      {"one active",
       {{GroupDeed::kGroupAdd}, {GroupDeed::kAdd, 0}},
       {{GroupDeed::kAdd, 1},
        {GroupDeed::kPop},
        {GroupDeed::kDelete, 0},
        {GroupDeed::kFail, 1},
        {GroupDeed::kGroupDelete},
        {GroupDeed::kGroupAdd}}},
      {"gated",
       {{GroupDeed::kGroupAdd}, {GroupDeed::kClose}, {GroupDeed::kAdd, 0}},
       {{GroupDeed::kOpen},
        {GroupDeed::kAdd, 1},
        {GroupDeed::kActivate, 0},
        {GroupDeed::kDelete, 0},
        {GroupDeed::kPop}}},
      {"in its cycle",
       kInCycle,
       {{GroupDeed::kFail, 0},
        {GroupDeed::kFail, 1},
        {GroupDeed::kGroupDone},
        {GroupDeed::kDelete, 0},
        {GroupDeed::kGroupDelete},
        {GroupDeed::kPop}}},
      {"in its cycle, one pending, the gate closed",
       {{GroupDeed::kGroupAdd},
        {GroupDeed::kAdd, 0},
        {GroupDeed::kAdd, 1},
        {GroupDeed::kPop},
        {GroupDeed::kFail, 0},
        {GroupDeed::kClose}},
       {{GroupDeed::kGroupDone},
        {GroupDeed::kOpen},
        {GroupDeed::kFail, 1},
        {GroupDeed::kDone, 1},
        {GroupDeed::kGroupDelete}}}};
  return kAll;
}

// Where a name passes from a member to a single pod, or from that one to a member.
const std::vector<GroupBeginning>& BeginningsOfNames() {
  static const std::vector<GroupBeginning> kAll = {
      {"a member active",
       {{GroupDeed::kGroupAdd}, {GroupDeed::kAdd, 0}, {GroupDeed::kAdd, 1}},
       {{GroupDeed::kAddSingle},
        {GroupDeed::kPop},
        {GroupDeed::kDelete, 0},
        {GroupDeed::kFail, 1},
        {GroupDeed::kGroupDelete}}},
      {"a member in its cycle",
       kInCycle,
       {{GroupDeed::kAddSingle},
        {GroupDeed::kFail, 0},
        {GroupDeed::kGroupDone},
        {GroupDeed::kDeleteSingle},
        {GroupDeed::kPop}}},
      {"a member gated",
       {{GroupDeed::kGroupAdd}, {GroupDeed::kClose}, {GroupDeed::kAdd, 0}, {GroupDeed::kAdd, 1}},
       {{GroupDeed::kAddSingle},
        {GroupDeed::kActivate, 1},
        {GroupDeed::kDelete, 1},
        {GroupDeed::kDeleteSingle},
        {GroupDeed::kPop}}},
      {"a single pod",
       {{GroupDeed::kGroupAdd}, {GroupDeed::kAddSingle}, {GroupDeed::kAdd, 1}},
       {{GroupDeed::kTakeName, 0},
        {GroupDeed::kPop},
        {GroupDeed::kDeleteSingle},
        {GroupDeed::kGroupDelete}}}};
  return kAll;
}

enum class JudgedWhen : uint8_t { kByEachThread, kAtTheEnd, kNamesAtTheEnd };

template <typename Shape>
model::Body GroupBody(const GroupBeginning& beginning, const std::vector<GroupSteps>& threads,
                      JudgedWhen judged = JudgedWhen::kByEachThread) {
  ModelScene<Shape>(Duration(0), true).JudgeGroups();  // What fills itself at first use.
  return [=](model::Trial& trial) {
    RecordedGroup<Shape> recorded(static_cast<uint32_t>(threads.size()));
    recorded.Run(0, beginning.steps);
    for (uint32_t i = 0; i < threads.size(); ++i) {
      trial.Thread([&recorded, &threads, judged, i] {
        recorded.Run(i + 1, threads[i]);
        if (judged == JudgedWhen::kByEachThread) recorded.PopAllAndJudge(i + 1);
      });
    }
    trial.Join();
    if (judged == JudgedWhen::kNamesAtTheEnd) {
      recorded.JudgeNames();
    } else {
      recorded.PopAllAndJudge(0);
    }
    recorded.JudgeState();
  };
}

model::Options GroupOptions(const std::string& suffix, uint32_t preemptions_max,
                            uint32_t stale_reads_max = 0) {
  model::Options options = model::OptionsOfTest(suffix);
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = stale_reads_max;
  options.weak_failures_max = 0;
  options.steps_max = 20'000;
  return options;
}

std::string GroupText(const GroupSteps& steps) {
  std::string text;
  for (const GroupStep& step : steps) text += GroupSpec::Describe(step) + ", ";
  return text;
}

constexpr uint64_t kSchedulesPerRound = 100;

uint64_t FromEnvironment(const char* name, uint64_t absent) {
  const char* text = std::getenv(name);
  return text == nullptr ? absent : std::strtoull(text, nullptr, 10);
}

// Each stale read multiplies the schedules too, as each preemption does: two preemptions with one
// stale read, SCHEDQ_MODEL_STALE_READS=1, are a run by hand.
uint32_t StaleReads() {
  return static_cast<uint32_t>(FromEnvironment("SCHEDQ_MODEL_STALE_READS", 0));
}

// Adds up the schedules.
void ExpectPairsRight(const GroupBeginning& beginning, uint32_t preemptions_max,
                      uint32_t stale_reads_max, uint64_t* schedules) {
  const GroupSteps& deeds = beginning.deeds;
  for (size_t i = 0; i < deeds.size(); ++i) {
    for (size_t j = i; j < deeds.size(); ++j) {
      const std::string text = GroupText({deeds[i], deeds[j]});
      const model::Body body =
          GroupBody<ModelQueueShape>(beginning, {{deeds[i]}, {deeds[j]}}, JudgedWhen::kAtTheEnd);
      const Report report =
          model::Exhaust(GroupOptions(text, preemptions_max, stale_reads_max), body);
      *schedules += report.schedules;
      ASSERT_TRUE(report.passed() && report.complete) << beginning.name << ": " << text << "\n"
                                                      << report;
    }
  }
}

// Adds up the freezes.
void ExpectFrozenRight(const GroupBeginning& beginning, uint64_t* freezes) {
  for (const GroupStep& one : beginning.deeds) {
    for (const GroupStep& first : beginning.deeds) {
      for (const GroupStep& second : beginning.deeds) {
        const std::vector<GroupSteps> threads = {{one}, {first, second}};
        const std::string text = GroupText(threads[0]) + "meets " + GroupText(threads[1]);
        const Report report = model::ExhaustStalls(GroupOptions(text, 0),
                                                   GroupBody<ModelQueueShape>(beginning, threads));
        ASSERT_TRUE(report.passed()) << beginning.name << ": " << text << "\n" << report;
        *freezes += report.freezes;
      }
    }
  }
}

class LockfreeGroupsModel : public testing::TestWithParam<size_t> {};

TEST_P(LockfreeGroupsModel, AnyThreadMayBeFrozenAnywhere) {
  uint64_t freezes = 0;
  ExpectFrozenRight(GroupBeginnings()[GetParam()], &freezes);
  EXPECT_GT(freezes, 500u);
}
INSTANTIATE_TEST_SUITE_P(From, LockfreeGroupsModel, testing::Range<size_t>(0, 5));

TEST_P(LockfreeGroupsModel, AnyTwoOperationsMayMeet) {
  uint64_t schedules = 0;
  ExpectPairsRight(GroupBeginnings()[GetParam()], model::PreemptionsOr(2), StaleReads(),
                   &schedules);
  std::printf("%llu schedules\n", static_cast<unsigned long long>(schedules));
}

TEST_P(LockfreeGroupsModel, AnyTwoOperationsMayReadLate) {
  uint64_t in_order = 0;
  ExpectPairsRight(GroupBeginnings()[GetParam()], 1, 0, &in_order);
  uint64_t late = 0;
  ExpectPairsRight(GroupBeginnings()[GetParam()], 1, 1, &late);
  EXPECT_GT(late, in_order) << "nothing was read late";
}

// Three threads, each with two deeds: more than can be exhausted. A sweep bounds neither
// preemptions nor stale reads.
TEST_P(LockfreeGroupsModel, ThreeThreadsMayMeet) {
  const GroupBeginning& beginning = GroupBeginnings()[GetParam()];
  const GroupSteps& deeds = beginning.deeds;
  Random random(GetParam() + 1);
  const auto draw = [&] { return deeds[random.Below(deeds.size())]; };
  const uint64_t rounds = FromEnvironment("SCHEDQ_MODEL_ROUNDS", 5);
  for (uint64_t round = 0; round < rounds; ++round) {
    std::vector<GroupSteps> threads(3);
    std::string text;
    for (GroupSteps& thread : threads) {
      for (int i = 0; i < 2; ++i) thread.push_back(draw());
      text += GroupText(thread) + "| ";
    }
    model::Options options = GroupOptions(text, 0);
    options.seed = random.Next();
    const Report report =
        model::Sweep(options, kSchedulesPerRound,
                     GroupBody<ModelQueueShape>(beginning, threads, JudgedWhen::kAtTheEnd));
    ASSERT_TRUE(report.passed()) << beginning.name << ": " << text << "\n" << report;
  }
}

// A name passes in two steps, so others may find neither pod.
class LockfreeNamesModel : public testing::TestWithParam<size_t> {};

TEST_P(LockfreeNamesModel, AnyThreadMayBeFrozenAnywhere) {
  uint64_t freezes = 0;
  ExpectFrozenRight(BeginningsOfNames()[GetParam()], &freezes);
  EXPECT_GT(freezes, 500u);
}
INSTANTIATE_TEST_SUITE_P(From, LockfreeNamesModel, testing::Range<size_t>(0, 4));

TEST_P(LockfreeNamesModel, AnyTwoOperationsMayMeet) {
  uint64_t schedules = 0;
  ExpectPairsRight(BeginningsOfNames()[GetParam()], model::PreemptionsOr(2), StaleReads(),
                   &schedules);
  std::printf("%llu schedules\n", static_cast<unsigned long long>(schedules));
}

// One thread brings the member and another one the single pod: one of the two has the name then.
TEST(LockfreeNamesAtOnce, OnePodHasTheNameInTheEnd) {
  const std::vector<GroupSteps> beginnings = {{{GroupDeed::kGroupAdd}},
                                              {{GroupDeed::kGroupAdd}, {GroupDeed::kAdd, 0}},
                                              {{GroupDeed::kGroupAdd}, {GroupDeed::kAddSingle}},
                                              {{GroupDeed::kGroupAdd}, {GroupDeed::kAdd, 1}},
                                              {{GroupDeed::kAdd, 0}}};
  const std::vector<GroupSteps> threads = {{{GroupDeed::kTakeName, 0}}, {{GroupDeed::kAddSingle}}};
  for (const GroupSteps& steps : beginnings) {
    const GroupBeginning beginning = {"", steps, {}};
    const Report report =
        model::Exhaust(GroupOptions(GroupText(steps), model::PreemptionsOr(2), StaleReads()),
                       GroupBody<ModelQueueShape>(beginning, threads, JudgedWhen::kNamesAtTheEnd));
    EXPECT_TRUE(report.passed() && report.complete) << GroupText(steps) << "\n" << report;
  }
}

// The one thread is stopped, maybe where both pods are there. The other one's pops find the name
// once.
model::Body BodyOfPopsAmidBoth(bool brings_single) {
  using Scene = ModelScene<ModelQueueShape>;
  Scene(Duration(0), true).JudgeGroups();  // What fills itself at first use.
  return [brings_single](model::Trial& trial) {
    Scene scene(Duration(0), true);
    scene.queue().GroupAdd(Scene::GroupOfAll());
    const auto single = std::make_shared<Pod>(*Scene::MakeVersion(0, -1, "single"));
    single->uid = "single";
    const auto bring = [&](bool is_single) {
      is_single ? MustSucceed(scene.queue().Add(single)) : scene.Add(0);
    };
    bool has_returned = false;
    trial.Thread([&] {
      bring(!brings_single);
      has_returned = true;
    });
    trial.Thread([&] {
      bring(brings_single);
      size_t popped = 0;
      while (scene.queue().TryPop()) ++popped;
      // A pod that comes after the other one was popped is another one.
      MODEL_CHECK(popped <= 1 || has_returned, "a name is popped once");
    });
    trial.Join();
  };
}

TEST(LockfreeNamesAtOnce, NoTwoPodsOfANameArePopped) {
  for (const bool brings_single : {false, true}) {
    const Report report =
        model::ExhaustStalls(GroupOptions("stopped", 0), BodyOfPopsAmidBoth(brings_single));
    model::ExpectNoStall(report, 20);
  }
}

// The state says that the group is active; its thread has stopped before the ticket.
TEST(LockfreeGroupsHelp, DebtsOfAStoppedThreadArePaid) {
  const GroupBeginning known = {"", {{GroupDeed::kGroupAdd}}, {}};
  const std::vector<GroupSteps> threads = {{{GroupDeed::kAdd, 0}},
                                           {{GroupDeed::kFail, 0}, {GroupDeed::kPop}}};
  const Report sound =
      model::ExhaustStalls(GroupOptions("sound", 0), GroupBody<ModelQueueShape>(known, threads));
  EXPECT_TRUE(sound.passed()) << sound;
  const Report faulty =
      model::ExhaustStalls(GroupOptions("faulty", 0), GroupBody<PaysNoDebt>(known, threads));
  EXPECT_FALSE(faulty.passed());
}

// An answer has said that the member is in active. A pop that begins afterwards gives its group,
// and not the pod of lower priority beside it.
template <typename Shape>
model::Body BodyOfAnswerAndPop() {
  ModelScene<Shape>(Duration(0), true).JudgeGroups();  // What fills itself at first use.
  return [](model::Trial& trial) {
    ModelScene<Shape> scene(Duration(0), true);
    scene.queue().GroupAdd(ModelScene<Shape>::GroupOfAll());
    MustSucceed(scene.queue().Add(ModelScene<Shape>::MakeVersion(2, -1, "single")));
    trial.Thread([&] { scene.Add(0); });
    trial.Thread([&] {
      const Status failed = scene.queue().Fail(scene.Key(0), PluginSet::Of(kFilter), {});
      if (failed) return;
      const std::optional<PoppedPod> popped = scene.queue().TryPop();
      MODEL_CHECK(popped && popped->group != nullptr, "the group is first");
    });
    trial.Join();
  };
}

TEST(LockfreeGroupsHelp, WhatAnAnswerSaysIsTrueForThePopAfterIt) {
  const Report sound =
      model::ExhaustStalls(GroupOptions("sound", 0), BodyOfAnswerAndPop<ModelQueueShape>());
  EXPECT_TRUE(sound.passed()) << sound;
  const Report faulty =
      model::ExhaustStalls(GroupOptions("faulty", 0), BodyOfAnswerAndPop<PaysOnlyWhatItPops>());
  EXPECT_FALSE(faulty.passed());
}

// An event came between the question and the group's entry into the pool.
TEST(LockfreeGroupsHelp, OvertakenGroupIsAskedOnceMore) {
  const GroupBeginning closed = {"", {{GroupDeed::kGroupAdd}, {GroupDeed::kClose}}, {}};
  const std::vector<GroupSteps> threads = {{{GroupDeed::kAdd, 0}}, {{GroupDeed::kOpen}}};
  const Report sound = model::Exhaust(
      GroupOptions("sound", 2), GroupBody<ModelQueueShape>(closed, threads, JudgedWhen::kAtTheEnd));
  EXPECT_TRUE(sound.passed()) << sound;
  const Report faulty =
      model::Exhaust(GroupOptions("faulty", 2),
                     GroupBody<AsksNoSecondTime>(closed, threads, JudgedWhen::kAtTheEnd));
  EXPECT_FALSE(faulty.passed());
}

}  // namespace
}  // namespace schedq
