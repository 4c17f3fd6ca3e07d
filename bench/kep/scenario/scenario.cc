#include "bench/kep/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "perf/text/number_text.h"

namespace schedq {
namespace {

// Figures that explain others.
constexpr std::string_view kDetails[] = {"rejections", "coalesced", "cancelled", "failed"};

std::string FigureText(double figure) {
  const bool is_count = figure >= 0 && figure == std::floor(figure) && figure < 1e15;
  return is_count ? CountText(static_cast<uint64_t>(figure)) : NumberText(figure);
}

std::string ScenarioTable(const ScenarioResult& result, const TableLayout& layout) {
  std::vector<TextTable::Column> columns = {{result.name, Align::kLeft}};
  for (const std::string& figure : result.figures) {
    const bool is_detail =
        std::find(std::begin(kDetails), std::end(kDetails), figure) != std::end(kDetails);
    columns.push_back({figure, Align::kRight, is_detail ? Shown::kWide : Shown::kIfRoom});
  }
  TextTable table(std::move(columns));
  for (const ScenarioArm& arm : result.arms) {
    std::vector<TextTable::Cell> cells = {arm.name};
    for (const double figure : arm.figures) cells.emplace_back(FigureText(figure));
    table.AddRow(std::move(cells));
  }
  return Wrapped(result.about, layout.width_max) + "\n" + table.Render(layout);
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

std::string ScenarioTables(const std::vector<ScenarioResult>& results, const TableLayout& layout) {
  std::string text;
  for (const ScenarioResult& result : results) text += "\n" + ScenarioTable(result, layout);
  return text;
}

std::string VerdictLine(const PromiseVerdict& verdict) {
  return fmt::format("{} {}: {}", verdict.proposal, verdict.holds ? "holds" : "does not hold",
                     verdict.line);
}

std::string VerdictLines(const std::vector<PromiseVerdict>& verdicts, size_t width) {
  std::string text;
  for (const PromiseVerdict& verdict : verdicts) {
    text += Wrapped(VerdictLine(verdict), width, 2) + '\n';
  }
  return text;
}

bool AllHold(const std::vector<PromiseVerdict>& verdicts) {
  return std::all_of(verdicts.begin(), verdicts.end(),
                     [](const PromiseVerdict& verdict) { return verdict.holds; });
}

}  // namespace schedq
