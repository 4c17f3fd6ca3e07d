// The features that a workload needs and the simulation lacks.
#pragma once

#include <string>
#include <vector>

#include "bench/format/workload/features.h"
#include "bench/format/workload/model.h"

namespace schedq {

struct Need {
  Feature feature;
  std::string text;  // "pod affinity", "feature gate X=true".
  bool blocks;       // True: the workload is skipped. False: the need is only named.
};

// The needs in the order of the table of features, each once.
std::vector<Need> NeedsOf(const Workload& workload);

// True if no need blocks the workload.
bool CanRun(const Workload& workload);

// The defect in the workload's own definition, with file and line; null: there is none.
const std::string* DefectOf(const Workload& workload);

// Adds the features that only all operations together show. Preemption is one: pods of different
// priorities together request more than the nodes have.
void NoteJointFeatures(Workload* workload);

}  // namespace schedq
