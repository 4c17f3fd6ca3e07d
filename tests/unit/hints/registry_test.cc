// Goal: a registry numbers plugins, refuses what cannot work, and matches events to registrations
// as docs/semantics.md ("Matching") says.
// Method: small registries and every pair of resource and action; the model of matching below is
// written from the sentence, not from the code.
#include "hints/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/plugin.h"
#include "hints/plugin.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

using ::testing::HasSubstr;

Plugin Named(const std::string& name) {
  Plugin plugin;
  plugin.name = name;
  return plugin;
}

Plugin On(const std::string& name, Resource resource, Action actions) {
  Plugin plugin = Named(name);
  plugin.events = {{resource, actions, {}, {}}};
  return plugin;
}

std::string ErrorOf(std::vector<Plugin> plugins) {
  const Result<PluginRegistry> registry = PluginRegistry::Build(std::move(plugins));
  return registry.ok() ? "" : registry.error().message();
}

std::vector<Action> EveryIncomingAction() {
  std::vector<Action> actions = {Action::kUpdate, Action::kAll};
  for (int bit = 0; bit < 15; ++bit) actions.push_back(static_cast<Action>(1u << bit));
  return actions;
}

TEST(HintsRegistryTest, NumbersPluginsInOrder) {
  const PluginRegistry registry = BuildOrDie({Named("b"), Named("a")});
  EXPECT_EQ(registry.size(), 2);
  EXPECT_EQ(registry.Find("b"), 0);
  EXPECT_EQ(registry.Find("a"), 1);
  EXPECT_EQ(registry.Find("c"), std::nullopt);
  EXPECT_THAT(registry.Names(), testing::ElementsAre("b", "a"));
  EXPECT_EQ(registry.plugin(1).name, "a");
}

TEST(HintsRegistryTest, RefusesThe65thPlugin) {
  std::vector<Plugin> plugins;
  for (int i = 0; i < kPluginCountMax; ++i) plugins.push_back(Named("p" + std::to_string(i)));
  EXPECT_EQ(ErrorOf(plugins), "");
  plugins.push_back(Named("last"));
  EXPECT_THAT(ErrorOf(plugins), HasSubstr("plugin last is one too many"));
}

TEST(HintsRegistryTest, RefusesNamesThatDoNotIdentify) {
  EXPECT_THAT(ErrorOf({Named("a"), Named("a")}), HasSubstr("a is registered twice"));
  EXPECT_THAT(ErrorOf({Named("")}), HasSubstr("without a name"));
}

TEST(HintsRegistryTest, RefusesRegistrationsThatNoEventMatches) {
  EXPECT_THAT(ErrorOf({On("p", Resource::kNode, Action::kNone)}), HasSubstr("no action"));
  EXPECT_THAT(ErrorOf({On("p", Resource::kNode, static_cast<Action>(1u << 16))}),
              HasSubstr("unknown action"));
  EXPECT_THAT(ErrorOf({On("p", Resource::kNode, Action::kAdd | Action::kUpdateOther)}),
              HasSubstr("UpdateOther"));
  EXPECT_EQ(ErrorOf({On("p", Resource::kNode, Action::kUpdate)}), "");
}

TEST(HintsRegistryTest, RefusesTheRegistrationThatMakesOneEventMatch65) {
  Plugin many = Named("many");
  many.events.assign(kMatchCountMax, {Resource::kNode, Action::kAdd, {}, {}});
  EXPECT_EQ(ErrorOf({many}), "");
  const std::string error = ErrorOf({many, On("one", Resource::kWildcard, Action::kAll)});
  EXPECT_THAT(error, HasSubstr("65 registrations match event NodeAdd"));
  // On other events there are few, so only their sum on one event counts.
  EXPECT_EQ(ErrorOf({many, On("one", Resource::kNode, Action::kDelete)}), "");
}

// "Same resource (or a wildcard registration; Pod covers AssignedPod, UnscheduledPod and
// TargetPod), and the incoming action is contained in the registered ones."
TEST(HintsRegistryTest, MatchesEveryPairAsTheSentenceSays) {
  const std::vector<std::pair<Resource, Action>> registered = {
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeLabel},
      {Resource::kNode, Action::kUpdate},
      {Resource::kPod, Action::kDelete | Action::kUpdate},
      {Resource::kAssignedPod, Action::kDelete},
      {Resource::kWildcard, Action::kAll},
  };
  std::vector<Plugin> plugins;
  for (const auto& [resource, actions] : registered) {
    plugins.push_back(On("p" + std::to_string(plugins.size()), resource, actions));
  }
  const PluginRegistry registry = BuildOrDie(plugins);
  for (int r = 0; r < kResourceCount; ++r) {
    const auto incoming = static_cast<Resource>(r);
    const bool is_pod = incoming == Resource::kAssignedPod || incoming == Resource::kTargetPod ||
                        incoming == Resource::kUnscheduledPod;
    for (const Action action : EveryIncomingAction()) {
      PluginSet wanted = SetOf({4});
      for (PluginId i = 0; i < 4; ++i) {
        const auto& [resource, actions] = registered[i];
        const bool same = resource == incoming || (resource == Resource::kPod && is_pod);
        if (same && Contains(actions, action)) wanted.Insert(i);
      }
      EXPECT_EQ(registry.Matching(MakeEvent(incoming, action)).plugins, wanted)
          << ResourceName(incoming) << " " << ActionName(action);
    }
  }
}

TEST(HintsRegistryTest, UpdateCoversSpecificUpdatesButNotTheOtherWayRound) {
  const PluginRegistry registry =
      BuildOrDie({On("general", Resource::kNode, Action::kUpdate),
                  On("specific", Resource::kNode, Action::kUpdateNodeLabel)});
  const auto matched = [&](Action action) {
    return registry.Matching(MakeEvent(Resource::kNode, action)).plugins;
  };
  EXPECT_EQ(matched(Action::kUpdateNodeLabel), SetOf({0, 1}));
  EXPECT_EQ(matched(Action::kUpdate), SetOf({0}));
  EXPECT_EQ(matched(Action::kUpdateNodeTaint), SetOf({0}));
}

TEST(HintsRegistryTest, BitsFollowTheOrderOfRegistration) {
  Plugin twice = On("twice", Resource::kNode, Action::kAdd);
  twice.events.push_back({Resource::kNode, Action::kDelete, {}, {}});
  twice.events.push_back({Resource::kWildcard, Action::kAll, {}, {}});
  const PluginRegistry registry =
      BuildOrDie({Named("silent"), twice, On("once", Resource::kNode, Action::kAdd)});
  const EventMatches& matches = registry.Matching(MakeEvent(Resource::kNode, Action::kAdd));
  ASSERT_EQ(matches.registrations.size(), 3u);
  EXPECT_EQ(matches.registrations[0].plugin, 1);
  EXPECT_EQ(matches.registrations[1].plugin, 1);
  EXPECT_EQ(matches.registrations[1].registration, &registry.plugin(1).events[2]);
  EXPECT_EQ(matches.registrations[2].plugin, 2);
  EXPECT_EQ(matches.Of(SetOf({1})), 0b011u);
  EXPECT_EQ(matches.Of(SetOf({0, 2})), 0b100u);
  EXPECT_EQ(matches.Of(PluginSet()), 0u);
}

TEST(HintsRegistryTest, WildcardEventsWithSpecialLabelsFindWildcardRegistrations) {
  const PluginRegistry registry = BuildOrDie(
      {On("all", Resource::kWildcard, Action::kAll), On("node", Resource::kNode, Action::kAll)});
  EXPECT_EQ(registry.Matching(ForceActivateEvent()).plugins, SetOf({0}));
  EXPECT_EQ(registry.Matching(UnschedulableTimeoutEvent()).plugins, SetOf({0}));
}

TEST(HintsRegistryTest, KeepsItsTablesWhenMoved) {
  PluginRegistry first = BuildOrDie({On("p", Resource::kNode, Action::kAdd)});
  const PluginRegistry second = std::move(first);
  const EventMatches& matches = second.Matching(MakeEvent(Resource::kNode, Action::kAdd));
  EXPECT_EQ(matches.registrations[0].registration, &second.plugin(0).events[0]);
}

}  // namespace
}  // namespace schedq::hints_test
