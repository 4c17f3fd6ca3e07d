// Goal: every promise of the dispatcher's scenarios holds on every engine, equal settings give
// equal results, and a broken promise is reported.
// Method: all scenarios except the large ones, played as the commands play them; then a scenario
// made for the test.
#include "bench/kep/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/kep/dispatch/dispatch_scenarios.h"
#include "perf/documents/scenario_document.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

using testing::HasSubstr;

struct Report {
  std::vector<ScenarioResult> results;
  std::vector<PromiseVerdict> verdicts;
};

Report Play(const std::vector<Scenario>& scenarios, const ScenarioSettings& settings) {
  Report report;
  PlayScenarios(scenarios, settings, {}, &report.results, &report.verdicts);
  return report;
}

std::vector<Scenario> SmallScenarios() {
  std::vector<Scenario> scenarios = DispatchScenarios();
  std::erase_if(scenarios, [](const Scenario& scenario) { return scenario.is_large; });
  return scenarios;
}

TEST(DispatchScenariosTest, EveryPromiseHoldsOnEveryEngine) {
  for (const EngineKind engine : AllEngines()) {
    const Report report = Play(SmallScenarios(), {.engine = engine});
    EXPECT_GT(report.verdicts.size(), 15u);
    EXPECT_TRUE(AllHold(report.verdicts)) << VerdictLines(report.verdicts, 100);
    for (const ScenarioResult& result : report.results) {
      for (const ScenarioArm& arm : result.arms) {
        EXPECT_EQ(arm.figures.size(), result.figures.size()) << result.name << " " << arm.name;
      }
    }
  }
}

TEST(DispatchScenariosTest, EqualSettingsGiveEqualText) {
  const std::string first = ScenarioTables(Play(SmallScenarios(), {.seed = 3}).results, {});
  EXPECT_EQ(ScenarioTables(Play(SmallScenarios(), {.seed = 3}).results, {}), first);
  EXPECT_NE(ScenarioTables(Play(SmallScenarios(), {.seed = 4}).results, {}), first);
}

TEST(ScenarioTest, BrokenPromiseIsSaid) {
  const Scenario scenario{"KEP-1/story", false, [](const ScenarioSettings&) {
                            return PlayedScenario{{"", "about it", {"calls"}, {{"arm", {1.5}}}},
                                                  {{"KEP-1", true, "a"}, {"KEP-1", false, "b"}}};
                          }};
  const Report report = Play({scenario}, {});
  EXPECT_FALSE(AllHold(report.verdicts));
  EXPECT_EQ(VerdictLines(report.verdicts, 100), "KEP-1 holds: a\nKEP-1 does not hold: b\n");
  const std::string tables = ScenarioTables(report.results, {});
  EXPECT_THAT(tables, HasSubstr("about it\nKEP-1/story"));
  EXPECT_THAT(tables, HasSubstr("1.50"));
}

TEST(ScenarioTest, InterruptLeavesTheRestOut) {
  int played = 0;
  const Scenario scenario{"story", false, [&](const ScenarioSettings&) {
                            ++played;
                            return PlayedScenario();
                          }};
  Report report;
  PlayScenarios({scenario, scenario}, {}, {{}, [&] { return played == 1; }}, &report.results,
                &report.verdicts);
  EXPECT_EQ(played, 1);
  EXPECT_EQ(report.results.size(), 1u);
}

}  // namespace
}  // namespace schedq
