// Scenarios: a story on the virtual clock, played in several ways, with figures and promises.
//
// Purpose: one type for the commands that play scenarios (`schedq run --suite kep`, `schedq profile
// dispatch`) and for the files that define them.
// When not to use it: for loads of a whole cluster, which are workloads.
// Threads: the caller's. Equal settings give equal results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "perf/documents/scenario_document.h"
#include "perf/text/table.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct ScenarioSettings {
  uint64_t seed = 1;
  EngineKind engine = EngineKind::kLockfree;
};

struct PlayedScenario {
  ScenarioResult result;  // `name` is empty; PlayScenarios sets it.
  std::vector<PromiseVerdict> verdicts;
};

struct Scenario {
  std::string name;       // Begins with the proposal: "KEP-5501/transient".
  bool is_large = false;  // The scenario takes seconds.
  std::function<PlayedScenario(const ScenarioSettings& settings)> play;
};

// Both functions may be empty.
struct ScenarioAudience {
  std::function<void(const std::string& name)> announce;  // Called before each scenario.
  std::function<bool()> interrupted;                      // True ends the play.
};

// Plays the scenarios in their order, until an interrupt. Adds to `results` and `verdicts`.
void PlayScenarios(const std::vector<Scenario>& scenarios, const ScenarioSettings& settings,
                   const ScenarioAudience& audience, std::vector<ScenarioResult>* results,
                   std::vector<PromiseVerdict>* verdicts);

// The results as text, a table a scenario.
std::string ScenarioTables(const std::vector<ScenarioResult>& results, const TableLayout& layout);
// "KEP-5501 holds: ..." or "KEP-5501 does not hold: ...".
std::string VerdictLine(const PromiseVerdict& verdict);
// All these lines, wrapped to `width` columns.
std::string VerdictLines(const std::vector<PromiseVerdict>& verdicts, size_t width);
bool AllHold(const std::vector<PromiseVerdict>& verdicts);

}  // namespace schedq
