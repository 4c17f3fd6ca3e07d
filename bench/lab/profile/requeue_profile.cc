// The cost of one claim event with N unschedulable pods, each waiting for a claim of its own.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bench/lab/paths/claim_storm.h"
#include "bench/lab/profile/profile_kind.h"
#include "schedq/engine_kind.h"

namespace schedq {

ProfileKind RequeueProfile() {
  ProfileKind kind;
  kind.name = "requeue";
  kind.summary = "one claim event each for N unschedulable pods, narrowed to a pod and not";
  kind.size_of = "unschedulable pods";
  for (const EngineKind engine : AllEngines()) {
    for (const bool narrows : {true, false}) {
      ProfileSubject subject;
      subject.name = std::string(EngineName(engine)) + (narrows ? "/narrowed" : "/all_pods");
      subject.operation = "event";
      subject.counts_judged_pods = true;
      subject.prepare = [=](uint64_t size, uint64_t operations_max) -> MeasuredPathRef {
        const uint64_t events = operations_max == 0 ? size : std::min(size, operations_max);
        return std::make_unique<ClaimStorm>(ClaimStorm::Options{
            engine, narrows, static_cast<int64_t>(size), static_cast<int64_t>(events)});
      };
      kind.subjects.push_back(std::move(subject));
    }
  }
  return kind;
}

}  // namespace schedq
