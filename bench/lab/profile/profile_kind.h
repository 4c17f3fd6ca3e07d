// The kinds of profile of `schedq profile`; profile_kinds.cc names one function a kind.
//
// Purpose: a kind is a list of subjects (an engine and a variant). Each is a path through the
// product that can be prepared at any size; profiler.h measures it. A kind may also have scenarios,
// whose figures are not costs.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/kep/scenario/scenario.h"
#include "bench/lab/paths/measured_path.h"
#include "schedq/assembly_options.h"

namespace schedq {

struct ProfileSubject {
  std::string name;       // "lockfree/narrowed": the engine (or structure), then the variant.
  std::string operation;  // The operation that a cost is counted for: "event".
  bool counts_judged_pods = false;
  // Prepares a path of `size` with at most `operations_max` operations (0: all).
  std::function<MeasuredPathRef(uint64_t size, uint64_t operations_max)> prepare;
};

// A bound on the instructions of an operation of `series`: `factor_max` times those of the
// reference, plus `extra_max`. The reference is `base` at the same size; without a base it is the
// series itself at its smallest size.
struct InstructionPromise {
  std::string proposal;  // The proposal that promises it.
  std::string series;
  std::string base;
  double factor_max = 1;
  double extra_max = 0;
};

struct ProfileKind {
  std::string name;     // "requeue"
  std::string summary;  // One line for the help.
  std::string size_of;  // What N counts: "unschedulable pods".
  std::vector<ProfileSubject> subjects;
  std::vector<Scenario> scenarios;  // Most kinds have none.
  std::vector<InstructionPromise> promises;
};

// The kinds, in the order of the help.
std::vector<ProfileKind> AllProfileKinds();

ProfileKind RequeueProfile();
// The same of a plugin from outside, named `plugin` among `plugins`, and of an event of its own.
ProfileKind RequeueProfileOf(const std::vector<PluginSource>& plugins, const std::string& plugin);
ProfileKind BackoffProfile();
ProfileKind DispatchProfile();
ProfileKind AssemblyProfile();
ProfileKind GroupsProfile();
ProfileKind DevicesProfile();

}  // namespace schedq
