// Goal: by a recorder's answers, recorded plugins answer as the real ones did.
// Method: real plugins judge and gate pods; their answers, taken, are put into RecordedAnswers, and
// plugins of the kind `recorded` must come to the same verdicts.
#include "hints/recorded/answer_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "hints/judge.h"
#include "hints/plugin.h"
#include "hints/pre_enqueue.h"
#include "hints/recorded/recorded_answers.h"
#include "hints/recorded/trace_plugins.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Hint QueueIfPodEndsIn1(const Pod& pod, const ObjectChange&) {
  return pod.name.back() == '1' ? Hint::kQueue : Hint::kSkip;
}

std::vector<Plugin> RealPlugins() {
  Plugin a = ClaimPlugin("A", QueueIfPodEndsIn1);
  a.pre_enqueue = [](const Pod& pod, std::string*) { return pod.priority >= 0; };
  return {a, ClaimPlugin("B", {}), ClaimPlugin("C", Answer(Hint::kError))};
}

std::vector<Plugin> RecordedPlugins(const World* world, const RecordedAnswers* answers) {
  std::vector<TracePluginSpec> specs;
  for (const char* name : {"A", "B", "C"}) {
    specs.push_back(
        {name, "recorded", {{Resource::kResourceClaim, Action::kUpdate, "recorded", "recorded"}}});
  }
  auto plugins = MakeTracePlugins(specs, world, answers);
  SCHEDQ_CHECK(plugins.ok(), plugins.error().message().c_str());
  return *plugins;
}

class HintsAnswerRecorderTest : public testing::Test {
 protected:
  PluginRegistry Recorded() {
    std::vector<Plugin> plugins;
    for (Plugin& plugin : RealPlugins()) plugins.push_back(recorder_.Record(std::move(plugin)));
    return BuildOrDie(std::move(plugins));
  }

  AnswerRecorder recorder_;
  Interner names_;
  const World world_{&names_};
  RecordedAnswers answers_;
  const ObjectChange change_{ViewOfClaim("c"), ViewOfClaim("c")};
};

TEST_F(HintsAnswerRecorderTest, WritesDownQueuesAndErrorsButNotSkips) {
  const PluginRegistry registry = Recorded();
  const PluginJudge judge(registry);
  const Pod one = MakePod("p1");
  const Pod two = MakePod("p2");
  for (const PluginId plugin : {0, 1, 2}) {
    JudgeOne(judge, {&one, 0, PluginSet::Of(plugin), {}}, ClaimUpdate(), change_);
    JudgeOne(judge, {&two, 1, PluginSet::Of(plugin), {}}, ClaimUpdate(), change_);
  }
  EXPECT_THAT(recorder_.TakeAnswers().verdicts,
              ElementsAre(Pair("A", ElementsAre("ns/p1")), Pair("B", ElementsAre("ns/p1", "ns/p2")),
                          Pair("C", ElementsAre("ns/p1", "ns/p2"))));
  EXPECT_THAT(recorder_.TakeAnswers().verdicts, IsEmpty());
}

TEST_F(HintsAnswerRecorderTest, RecordedPluginsJudgeAsTheRealOnesDid) {
  const PluginRegistry real = Recorded();
  const PluginJudge real_judge(real);
  const PluginRegistry replayed = BuildOrDie(RecordedPlugins(&world_, &answers_));
  const PluginJudge replayed_judge(replayed);
  for (uint64_t rejectors = 1; rejectors < 64; ++rejectors) {
    for (const char* name : {"p1", "p2"}) {
      const Pod pod = MakePod(name);
      const JudgedPod judged{&pod, 0, PluginSet(rejectors % 8), PluginSet(rejectors / 8)};
      const Verdict wanted = JudgeOne(real_judge, judged, ClaimUpdate(), change_);
      answers_.Clear();
      answers_.BeginOperation(change_.after);
      for (const auto& [plugin, pods] : recorder_.TakeAnswers().verdicts) {
        if (pods.count("ns/" + pod.name) > 0) answers_.Queue("ns", pod.name, plugin);
      }
      EXPECT_EQ(JudgeOne(replayed_judge, judged, ClaimUpdate(), change_), wanted)
          << name << " " << rejectors;
    }
  }
}

TEST_F(HintsAnswerRecorderTest, RecordedPluginsGateAsTheRealOnesDid) {
  const PluginRegistry real = Recorded();
  Pod pod = MakePod("p1");
  EXPECT_EQ(PluginPreEnqueue(real).Check(pod, kNoPlugin), kNoPlugin);
  EXPECT_THAT(recorder_.TakeAnswers().rejected, IsEmpty());
  pod.priority = -1;
  EXPECT_EQ(PluginPreEnqueue(real).Check(pod, kNoPlugin), 0);
  const AnswerRecorder::Answers taken = recorder_.TakeAnswers();
  EXPECT_THAT(taken.rejected, ElementsAre(Pair("ns/p1", "A")));

  const PluginRegistry replayed = BuildOrDie(RecordedPlugins(&world_, &answers_));
  answers_.BeginOperation();
  answers_.Reject("ns", "p1", taken.rejected.at("ns/p1"));
  EXPECT_EQ(PluginPreEnqueue(replayed).Check(pod, kNoPlugin), 0);
}

}  // namespace
}  // namespace schedq::hints_test
