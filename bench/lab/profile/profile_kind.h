// What `schedq profile` can profile: one function a kind, named in profile_kinds.cc.
//
// Purpose: a kind is a list of subjects (an engine and a variant), each a path through the product
// that can be prepared at any size. profiler.h measures it; nothing here holds a clock. A kind may
// have scenarios beside, whose figures are not costs.
// Threads: the main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/kep/scenario/scenario.h"
#include "bench/lab/paths/measured_path.h"

namespace schedq {

struct ProfileSubject {
  std::string name;       // "lockfree/narrowed": the engine (or structure), then the variant.
  std::string operation;  // What a cost is per: "event".
  bool counts_judged_pods = false;
  // A path of `size`, of all its operations or of at most `operations_max` of them (0: all).
  std::function<MeasuredPathRef(uint64_t size, uint64_t operations_max)> prepare;
};

// What an operation of `series` may take when instructions are counted: `factor_max` times and
// `extra_max` more than an operation of `base` at the same size or, without a base, than its own at
// the smallest size.
struct InstructionPromise {
  std::string proposal;  // Whose promise it is.
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
  std::vector<Scenario> scenarios;  // Played beside; most kinds have none.
  std::vector<InstructionPromise> promises;
};

// In the order of the help.
std::vector<ProfileKind> AllProfileKinds();

ProfileKind RequeueProfile();
ProfileKind BackoffProfile();
ProfileKind DispatchProfile();
ProfileKind AssemblyProfile();

}  // namespace schedq
