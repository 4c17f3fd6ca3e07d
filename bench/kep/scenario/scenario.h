// Scenarios: a story on the virtual clock, played in several ways, with figures and promises.
//
// Purpose: one type for whoever plays them (`schedq run --suite kep`, `schedq profile dispatch`)
// and for whoever writes one. When not to use it: for loads of a whole cluster, which are
// workloads.
// Threads: the caller's. Equal settings give equal results.
#pragma once

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
  ScenarioResult result;  // Without its name, which Scenario has.
  std::vector<PromiseVerdict> verdicts;
};

struct Scenario {
  std::string name;       // The proposal first: "KEP-5501/transient".
  bool is_large = false;  // It takes seconds.
  std::function<PlayedScenario(const ScenarioSettings& settings)> play;
};

// Of the scenario's name; and whether all that comes after is not wanted any more.
struct ScenarioAudience {
  std::function<void(const std::string& name)> announce;  // May be empty.
  std::function<bool()> interrupted;                      // May be empty.
};

// In order. What comes after an interrupt is left out. Adds to `results` and `verdicts`.
void PlayScenarios(const std::vector<Scenario>& scenarios, const ScenarioSettings& settings,
                   const ScenarioAudience& audience, std::vector<ScenarioResult>* results,
                   std::vector<PromiseVerdict>* verdicts);

// A table each.
std::string ScenarioTables(const std::vector<ScenarioResult>& results, const TableLayout& layout);
// "KEP-5501 holds: ..." or "KEP-5501 does not hold: ...".
std::string VerdictLine(const PromiseVerdict& verdict);
// These lines, wrapped to `width` columns.
std::string VerdictLines(const std::vector<PromiseVerdict>& verdicts, size_t width);
bool AllHold(const std::vector<PromiseVerdict>& verdicts);

}  // namespace schedq
