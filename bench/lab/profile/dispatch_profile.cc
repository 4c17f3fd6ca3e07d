// The cost of an operation on waiting API calls with N of them waiting: the dispatcher's queue,
// upstream's design and an ordered map. The kind also has the scenarios of KEP-5501 and KEP-5278.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bench/kep/dispatch/dispatch_scenarios.h"
#include "bench/lab/paths/call_contestants.h"
#include "bench/lab/paths/call_path.h"
#include "bench/lab/paths/reporting_port.h"
#include "bench/lab/profile/profile_kind.h"

namespace schedq {
namespace {

template <typename Calls>
void AddSubjects(ProfileKind& kind, const char* structure) {
  for (const CallOperation operation : kCallOperations) {
    ProfileSubject subject;
    subject.name = std::string(structure) + "/" + CallOperationName(operation);
    subject.operation = "call";
    const bool is_drain = operation == CallOperation::kDrain;
    subject.prepare = [=](uint64_t size, uint64_t operations_max) -> MeasuredPathRef {
      uint64_t operations = size;
      if (operations_max != 0 && !is_drain) operations = std::min(operations, operations_max);
      return std::make_unique<CallPath<Calls>>(
          CallWorkload{operation, static_cast<int64_t>(size), static_cast<int64_t>(operations)});
    };
    kind.subjects.push_back(std::move(subject));
  }
}

// The difference between the two series is the cost of the reporting port while its gates are off.
void AddGatesOff(ProfileKind& kind, const char* name, ReportingPort port) {
  ProfileSubject subject;
  subject.name = std::string("gates-off/") + name;
  subject.operation = "call";
  subject.prepare = [port](uint64_t size, uint64_t operations_max) -> MeasuredPathRef {
    const uint64_t pods = operations_max == 0 ? size : std::min(size, operations_max);
    UnobservedAdds adds;
    adds.port = port;
    adds.pods = static_cast<int64_t>(pods);
    return std::make_unique<AddUnobserved>(adds);
  };
  kind.subjects.push_back(std::move(subject));
}

}  // namespace

ProfileKind DispatchProfile() {
  ProfileKind kind;
  kind.name = "dispatch";
  kind.summary =
      "API calls are added, overwritten, cancelled, synced and drained amid N that wait; KEP-5501 "
      "and "
      "KEP-5278 are played";
  kind.size_of = "waiting calls, or pods";
  AddSubjects<ProductCalls>(kind, "schedq");
  AddSubjects<LockedFifoCalls>(kind, "upstream-design");
  AddSubjects<LockedMultimapCalls>(kind, "multimap");
  AddGatesOff(kind, "add", ReportingPort::kCompiledIn);
  AddGatesOff(kind, "add-without-the-port", ReportingPort::kCompiledOut);
  kind.promises.push_back({.proposal = "KEP-5501",
                           .series = "gates-off/add",
                           .base = "gates-off/add-without-the-port",
                           .extra_max = 2});
  for (const CallOperation operation :
       {CallOperation::kAdd, CallOperation::kOverwrite, CallOperation::kCancel}) {
    kind.promises.push_back({.proposal = "dispatcher",
                             .series = std::string("schedq/") + CallOperationName(operation),
                             .base = {},
                             .factor_max = 1.1});
  }
  kind.scenarios = DispatchScenarios();
  return kind;
}

}  // namespace schedq
