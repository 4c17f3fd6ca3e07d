// All scenarios of the dispatcher: KEP-5501's models, KEP-5278's stories, and the flood.
// Threads: the caller's. Equal settings give equal results.
#pragma once

#include <vector>

#include "bench/kep/scenario/scenario.h"

namespace schedq {

// All scenarios, in the order of tables.
std::vector<Scenario> DispatchScenarios();

// The parts of that list.
std::vector<Scenario> StatusReportScenarios();      // KEP-5501.
std::vector<Scenario> FloodScenarios();             // The flood.
std::vector<Scenario> NominationReportScenarios();  // KEP-5278.

}  // namespace schedq
