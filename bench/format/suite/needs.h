// What a workload needs of the simulation that it does not have.
#pragma once

#include <string>
#include <vector>

#include "bench/format/workload/model.h"

namespace schedq {

struct Need {
  Feature feature;
  std::string text;  // "pod affinity", "feature gate X=true".
  bool blocks;       // The workload is skipped for it; else it is only named.
};

// In the order of the table of features, each once.
std::vector<Need> NeedsOf(const Workload& workload);

// No need blocks.
bool CanRun(const Workload& workload);

// Why nobody can run the workload, with file and line; null: it is not at fault.
const std::string* DefectOf(const Workload& workload);

// Adds the features that no operation alone shows: preemption, when pods of different priorities
// together ask for more than the nodes have.
void NoteNeedsOfWhole(Workload* workload);

}  // namespace schedq
