// What an operation on groups of pods costs, with N members: one that comes, goes or fails, and
// the last of a gang that opens it among others that wait. Where a plugin can see that all members
// are asked again, both engines ask all.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bench/lab/paths/group_paths.h"
#include "bench/lab/profile/profile_kind.h"
#include "schedq/engine_kind.h"

namespace schedq {

ProfileKind GroupsProfile() {
  ProfileKind kind;
  kind.name = "groups";
  kind.summary =
      "N members join, leave and fail in one group; a gang of N opens; gangs of 10 hear of each "
      "other's members";
  kind.size_of = "members";
  for (const EngineKind engine : AllEngines()) {
    for (const GroupOperation operation : kGroupOperations) {
      ProfileSubject subject;
      subject.name =
          std::string(EngineName(engine)) + "/" + std::string(GroupOperationName(operation));
      subject.operation = operation == GroupOperation::kStorm ? "gang" : "member";
      subject.counts_judged_pods = true;
      // The size alone gives the number of operations; fewer would be another workload.
      subject.prepare = [=](uint64_t size, uint64_t) -> MeasuredPathRef {
        return std::make_unique<GroupPath>(engine, operation, static_cast<int64_t>(size));
      };
      kind.subjects.push_back(std::move(subject));
    }
  }
  return kind;
}

}  // namespace schedq
