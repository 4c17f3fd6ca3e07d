// The cost of a pod's way into backoff (its pop, an event, its failure) and out of it, with N pods
// in backoff. The variants are those of SchedulerPopFromBackoffQ: windows of a second, or exact
// expirations. Narrowing is no variant, because the events that a failing pod judges are never
// narrowed.
#include <cstdint>
#include <memory>
#include <string>

#include "bench/lab/paths/backoff_paths.h"
#include "bench/lab/profile/profile_kind.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

template <typename Path>
ProfileSubject SubjectOf(const BackoffOptions& options, const char* stage) {
  ProfileSubject subject;
  subject.name = std::string(EngineName(options.engine)) +
                 (options.pops_from_backoff ? "/windows/" : "/exact/") + stage;
  subject.operation = "pod";
  // The size alone gives the number of operations; fewer would be another workload.
  subject.prepare = [options](uint64_t size, uint64_t) -> MeasuredPathRef {
    BackoffOptions sized = options;
    sized.pods = static_cast<int64_t>(size);
    return std::make_unique<Path>(sized);
  };
  return subject;
}

}  // namespace

ProfileKind BackoffProfile() {
  ProfileKind kind;
  kind.name = "backoff";
  kind.summary = "N pods fail into backoff, are flushed by the second, or popped early";
  kind.size_of = "pods in backoff";
  for (const EngineKind engine : AllEngines()) {
    for (const bool windows : {true, false}) {
      const BackoffOptions options{.engine = engine, .pops_from_backoff = windows};
      kind.subjects.push_back(SubjectOf<BackoffInsert>(options, "insert"));
      kind.subjects.push_back(SubjectOf<BackoffFlush>(options, "flush"));
      if (windows) kind.subjects.push_back(SubjectOf<BackoffPop>(options, "pop"));
    }
  }
  return kind;
}

}  // namespace schedq
