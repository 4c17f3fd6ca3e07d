// Goal: each kind of docs/formats.md, "Traces", does what its sentence says, and an unknown one is
// refused.
// Method: one plugin a kind, asked directly; recorded answers are set operation by operation.
#include "hints/recorded/trace_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "hints/plugin.h"
#include "hints/recorded/recorded_answers.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class HintsTracePluginsTest : public testing::Test {
 protected:
  Plugin Make(const std::string& pre_enqueue, const std::string& hint,
              const std::string& pre_hint) {
    auto plugins = MakeTracePlugins(
        {{"P", pre_enqueue, {{Resource::kResourceClaim, Action::kUpdate, hint, pre_hint}}}},
        &world_, &answers_);
    SCHEDQ_CHECK(plugins.ok(), plugins.error().message().c_str());
    return plugins->front();
  }
  std::string ErrorOf(const TracePluginSpec& spec) {
    const auto plugins = MakeTracePlugins({spec}, &world_, &answers_);
    return plugins.ok() ? "" : plugins.error().message();
  }
  bool Enters(const std::string& kind, const Pod& pod) {
    return Make(kind, "", "").pre_enqueue(pod, nullptr);
  }
  Hint AnswerOf(const std::string& kind, const Pod& pod, const ObjectChange& change) {
    return Make("", kind, "").events[0].hint(pod, change);
  }
  std::vector<std::string> ListedBy(const std::string& kind, const ObjectChange& change) {
    PodList pods;
    EXPECT_EQ(Make("", "", kind).events[0].pre_hint(change, &pods), PreHint::kListed);
    std::vector<std::string> names;
    for (const PodId pod : pods) names.emplace_back(names_.Text(pod));
    return names;
  }
  PreHint AnswerBefore(const std::string& kind, const ObjectChange& change) {
    PodList pods;
    return Make("", "", kind).events[0].pre_hint(change, &pods);
  }

  Interner names_;
  World world_{&names_};
  RecordedAnswers answers_;
  const Pod pod_ = MakePod("p", {"c", "d"});
  const ObjectChange change_{ViewOfClaim("c"), ViewOfClaim("c")};
};

TEST_F(HintsTracePluginsTest, NoGatesRejectsGatedPods) {
  Pod gated = pod_;
  EXPECT_TRUE(Enters("no-gates", gated));
  gated.scheduling_gates = {"example.com/hold"};
  EXPECT_FALSE(Enters("no-gates", gated));
}

TEST_F(HintsTracePluginsTest, ClaimsKnownWantsEveryNamedClaimInThePodsNamespace) {
  EXPECT_FALSE(Enters("claims-known", pod_));
  world_.ClaimSeen("ns", "c");
  world_.ClaimSeen("other", "d");
  EXPECT_FALSE(Enters("claims-known", pod_));
  world_.ClaimSeen("ns", "d");
  EXPECT_TRUE(Enters("claims-known", pod_));
  world_.ClaimGone("ns", "c");
  EXPECT_FALSE(Enters("claims-known", pod_));
  EXPECT_TRUE(Enters("claims-known", MakePod("q")));
  std::string message;
  EXPECT_FALSE(Make("claims-known", "", "").pre_enqueue(pod_, &message));
  EXPECT_THAT(message, HasSubstr("\"c\""));
}

TEST_F(HintsTracePluginsTest, ConstantHints) {
  EXPECT_FALSE(Make("", "queue", "").events[0].hint);
  EXPECT_FALSE(Make("", "", "").events[0].hint);
  EXPECT_EQ(AnswerOf("skip", pod_, change_), Hint::kSkip);
  EXPECT_EQ(AnswerOf("error", pod_, change_), Hint::kError);
}

TEST_F(HintsTracePluginsTest, SameZoneComparesLabelsAbsentBeingEmpty) {
  Pod in_a = MakePod("p");
  in_a.labels = {{"zone", "a"}};
  const auto object = [](const Labels& labels) {
    ObjectView view;
    view.labels = labels;
    return std::make_shared<const ObjectView>(view);
  };
  const ObjectRef a = object({{"zone", "a"}});
  const ObjectRef b = object({{"zone", "b"}});
  const ObjectRef none = object({});
  EXPECT_EQ(AnswerOf("same-zone", in_a, {nullptr, a}), Hint::kQueue);
  EXPECT_EQ(AnswerOf("same-zone", in_a, {nullptr, b}), Hint::kSkip);
  EXPECT_EQ(AnswerOf("same-zone", in_a, {nullptr, none}), Hint::kSkip);
  EXPECT_EQ(AnswerOf("same-zone", MakePod("p"), {nullptr, none}), Hint::kQueue);
  EXPECT_EQ(AnswerOf("same-zone", MakePod("p"), {nullptr, a}), Hint::kSkip);
  // The new object counts, else the old one.
  EXPECT_EQ(AnswerOf("same-zone", in_a, {b, a}), Hint::kQueue);
  EXPECT_EQ(AnswerOf("same-zone", in_a, {a, nullptr}), Hint::kQueue);
  // An update of a pod carries the labels in the pod.
  EXPECT_EQ(AnswerOf("same-zone", in_a, {nullptr, ViewOfPod(in_a)}), Hint::kQueue);
}

TEST_F(HintsTracePluginsTest, ReferencesObjectWantsANamedClaimOfTheNamespace) {
  EXPECT_EQ(AnswerOf("references-object", pod_, {nullptr, ViewOfClaim("d")}), Hint::kQueue);
  EXPECT_EQ(AnswerOf("references-object", pod_, {ViewOfClaim("d"), nullptr}), Hint::kQueue);
  EXPECT_EQ(AnswerOf("references-object", pod_, {nullptr, ViewOfClaim("e")}), Hint::kSkip);
  Pod elsewhere = pod_;
  elsewhere.namespace_name = "other";
  EXPECT_EQ(AnswerOf("references-object", elsewhere, {nullptr, ViewOfClaim("d")}), Hint::kSkip);
  ObjectView node;
  node.resource = Resource::kNode;
  node.namespace_name = "ns";
  node.name = "d";
  const auto view = std::make_shared<const ObjectView>(node);
  EXPECT_EQ(AnswerOf("references-object", pod_, {nullptr, view}), Hint::kSkip);
}

TEST_F(HintsTracePluginsTest, PreHintKinds) {
  EXPECT_FALSE(Make("", "", "").events[0].pre_hint);
  EXPECT_EQ(AnswerBefore("all", change_), PreHint::kAllPods);
  EXPECT_EQ(AnswerBefore("error", change_), PreHint::kError);
  const Pod other = MakePod("q", {"c"});
  world_.PodChanged(nullptr, &pod_);
  world_.PodChanged(nullptr, &other);
  EXPECT_THAT(ListedBy("referencing-pods", change_), UnorderedElementsAre("ns/p", "ns/q"));
  EXPECT_THAT(ListedBy("referencing-pods", {nullptr, ViewOfClaim("d")}), ElementsAre("ns/p"));
  EXPECT_EQ(AnswerBefore("referencing-pods", {ViewOfClaim("c", true), ViewOfClaim("c")}),
            PreHint::kAllPods);
  EXPECT_EQ(AnswerBefore("referencing-pods", {ViewOfClaim("c", true), nullptr}), PreHint::kAllPods);
}

TEST_F(HintsTracePluginsTest, RecordedPreEnqueueRejectsWhereTheOperationSaysSo) {
  EXPECT_TRUE(Enters("recorded", pod_));
  answers_.BeginOperation();
  answers_.Reject("ns", "p", "P");
  answers_.Reject("ns", "q", "Another");
  EXPECT_FALSE(Enters("recorded", pod_));
  EXPECT_TRUE(Enters("recorded", MakePod("q")));
  std::string message;
  EXPECT_FALSE(Make("recorded", "", "").pre_enqueue(pod_, &message));
  EXPECT_EQ(message, "rejected by P in the recording");
  answers_.BeginOperation();
  EXPECT_TRUE(Enters("recorded", pod_));
}

TEST_F(HintsTracePluginsTest, RecordedHintsQueueWhatTheOperationLists) {
  answers_.BeginOperation(change_.after);
  answers_.Queue("ns", "p", "P");
  answers_.Queue("ns", "q", "Another");
  EXPECT_EQ(AnswerOf("recorded", pod_, change_), Hint::kQueue);
  EXPECT_EQ(AnswerOf("recorded", MakePod("q"), change_), Hint::kSkip);
  // The next operation fails a pod that was in flight: it asks about the logged event.
  answers_.BeginOperation();
  EXPECT_EQ(AnswerOf("recorded", pod_, change_), Hint::kQueue);
  const ObjectChange another{nullptr, ViewOfClaim("c")};
  EXPECT_EQ(AnswerOf("recorded", pod_, another), Hint::kSkip);
  answers_.Clear();
  EXPECT_EQ(AnswerOf("recorded", pod_, change_), Hint::kSkip);
}

// Otherwise a later object could get the same address, and the answers with it.
TEST_F(HintsTracePluginsTest, RecordedAnswersHoldTheObjectThatTheyBelongTo) {
  ObjectRef object = ViewOfClaim("c");
  const std::weak_ptr<const ObjectView> watched = object;
  answers_.BeginOperation(std::move(object));
  answers_.Queue("ns", "p", "P");
  answers_.BeginOperation();
  EXPECT_FALSE(watched.expired());
  answers_.Clear();
  EXPECT_TRUE(watched.expired());
}

TEST_F(HintsTracePluginsTest, RecordedVerdictsOfAnOperationWithoutObjectHoldForThatOperation) {
  answers_.BeginOperation();
  answers_.Queue("ns", "p", "P");
  EXPECT_EQ(AnswerOf("recorded", pod_, {nullptr, ViewOfPod(pod_)}), Hint::kQueue);
  answers_.BeginOperation();
  EXPECT_EQ(AnswerOf("recorded", pod_, {nullptr, ViewOfPod(pod_)}), Hint::kSkip);
}

TEST_F(HintsTracePluginsTest, RecordedPreHintListsTheQueuedPodsThatAreKnown) {
  const PodId known = names_.Acquire("ns", "p");
  answers_.BeginOperation(change_.after);
  answers_.Queue("ns", "p", "P");
  answers_.Queue("ns", "unknown", "P");
  EXPECT_THAT(ListedBy("recorded", change_), ElementsAre("ns/p"));
  names_.Release(known);
}

TEST_F(HintsTracePluginsTest, UnknownKindsAreRefusedByName) {
  const auto event = [](const char* hint, const char* pre_hint) {
    return TraceEventSpec{Resource::kNode, Action::kAdd, hint, pre_hint};
  };
  EXPECT_EQ(
      ErrorOf({"P", "nogates", {}}),
      "plugin P: unknown pre_enqueue kind \"nogates\", expected no-gates, claims-known, gang or "
      "recorded");
  EXPECT_THAT(ErrorOf({"P", "", {event("Queue", "")}}), HasSubstr("unknown hint kind \"Queue\""));
  EXPECT_THAT(ErrorOf({"P", "", {event("", "queue")}}),
              HasSubstr("unknown pre_hint kind \"queue\""));
}

}  // namespace
}  // namespace schedq::hints_test
