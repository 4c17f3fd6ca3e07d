// Goal: PreEnqueue plugins are asked in the right order, up to the first rejection, and explain it.
// Method: plugins that record their names when asked.
#include "hints/pre_enqueue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/registry.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using ::testing::ElementsAre;

class HintsPreEnqueueTest : public testing::Test {
 protected:
  Plugin Asking(const std::string& name) {
    Plugin plugin;
    plugin.name = name;
    plugin.rejection_message = "no more of " + name;
    plugin.pre_enqueue = [this, name](const Pod&, std::string* message) {
      asked_.push_back(name);
      if (rejecting_.count(name) == 0) return true;
      if (message != nullptr) *message = "because of " + name;
      return false;
    };
    return plugin;
  }
  Plugin Silent() {
    Plugin plugin;
    plugin.name = "Silent";
    return plugin;
  }
  PluginId Check(PluginId first) {
    asked_.clear();
    return check_.Check(pod_, first);
  }

  const Pod pod_ = MakePod("p");
  std::vector<std::string> asked_;
  std::set<std::string> rejecting_;
  const PluginRegistry registry_ = BuildOrDie({Asking("A"), Silent(), Asking("B"), Asking("C")});
  const PluginPreEnqueue check_{registry_};
};

TEST_F(HintsPreEnqueueTest, AllPassInOrderOfRegistration) {
  EXPECT_EQ(Check(kNoPlugin), kNoPlugin);
  EXPECT_THAT(asked_, ElementsAre("A", "B", "C"));
}

TEST_F(HintsPreEnqueueTest, TheFirstRejectionStopsTheRun) {
  rejecting_ = {"B", "C"};
  EXPECT_EQ(Check(kNoPlugin), 2);
  EXPECT_THAT(asked_, ElementsAre("A", "B"));
}

TEST_F(HintsPreEnqueueTest, TheLastGatingPluginIsAskedFirst) {
  rejecting_ = {"A", "C"};
  EXPECT_EQ(Check(3), 3);
  EXPECT_THAT(asked_, ElementsAre("C"));
}

TEST_F(HintsPreEnqueueTest, AfterItTheOthersAndItselfNotAgain) {
  EXPECT_EQ(Check(2), kNoPlugin);
  EXPECT_THAT(asked_, ElementsAre("B", "A", "C"));
}

TEST_F(HintsPreEnqueueTest, AFirstPluginWithoutPreEnqueueIsNone) {
  EXPECT_EQ(Check(1), kNoPlugin);
  EXPECT_THAT(asked_, ElementsAre("A", "B", "C"));
}

TEST_F(HintsPreEnqueueTest, ExplainsARejection) {
  rejecting_ = {"B"};
  EXPECT_EQ(check_.Explain(pod_, 2), "because of B");
}

TEST_F(HintsPreEnqueueTest, ExplainsARejectionThatHasPassedMeanwhile) {
  EXPECT_EQ(check_.Explain(pod_, 2), "no more of B");
}

TEST_F(HintsPreEnqueueTest, APluginMayHaveOtherWordsForThePodsOwnerOrNone) {
  Plugin apart = Asking("Apart");
  apart.user_message = [](const Pod& pod, std::string_view message) {
    return "for the owner of " + pod.name + ": " + std::string(message);
  };
  Plugin quiet = Asking("Quiet");
  quiet.user_message = [](const Pod&, std::string_view) { return std::string(); };
  const PluginRegistry registry = BuildOrDie({Asking("Plain"), apart, quiet});
  const PluginPreEnqueue check(registry);
  EXPECT_EQ(check.UserMessage(pod_, 0, "because"), "because");
  EXPECT_EQ(check.UserMessage(pod_, 1, "because"), "for the owner of p: because");
  EXPECT_EQ(check.UserMessage(pod_, 2, "because"), "");
}

}  // namespace
}  // namespace schedq::hints_test
