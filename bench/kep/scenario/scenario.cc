#include "bench/kep/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "perf/text/number_text.h"
#include "perf/text/table.h"

namespace schedq {
namespace {

std::string FigureText(double figure) {
  const bool is_count = figure >= 0 && figure == std::floor(figure) && figure < 1e15;
  return is_count ? CountText(static_cast<uint64_t>(figure)) : NumberText(figure);
}

std::string ScenarioTable(const ScenarioResult& result, bool colour) {
  std::vector<TextTable::Column> columns = {{result.name, Align::kLeft}};
  for (const std::string& figure : result.figures) columns.push_back({figure});
  TextTable table(std::move(columns));
  for (const ScenarioArm& arm : result.arms) {
    std::vector<TextTable::Cell> cells = {arm.name};
    for (const double figure : arm.figures) cells.emplace_back(FigureText(figure));
    table.AddRow(std::move(cells));
  }
  return result.about + "\n" + table.Render(colour);
}

}  // namespace

void PlayScenarios(const std::vector<Scenario>& scenarios, const ScenarioSettings& settings,
                   const ScenarioAudience& audience, std::vector<ScenarioResult>* results,
                   std::vector<PromiseVerdict>* verdicts) {
  for (const Scenario& scenario : scenarios) {
    if (audience.interrupted && audience.interrupted()) return;
    if (audience.announce) audience.announce(scenario.name);
    PlayedScenario played = scenario.play(settings);
    played.result.name = scenario.name;
    results->push_back(std::move(played.result));
    std::move(played.verdicts.begin(), played.verdicts.end(), std::back_inserter(*verdicts));
  }
}

std::string ScenarioTables(const std::vector<ScenarioResult>& results, bool colour) {
  std::string text;
  for (const ScenarioResult& result : results) text += "\n" + ScenarioTable(result, colour);
  return text;
}

std::string VerdictLines(const std::vector<PromiseVerdict>& verdicts) {
  std::string text;
  for (const PromiseVerdict& verdict : verdicts) {
    text += fmt::format("{} {}: {}\n", verdict.proposal, verdict.holds ? "holds" : "does not hold",
                        verdict.line);
  }
  return text;
}

bool AllHold(const std::vector<PromiseVerdict>& verdicts) {
  return std::all_of(verdicts.begin(), verdicts.end(),
                     [](const PromiseVerdict& verdict) { return verdict.holds; });
}

}  // namespace schedq
