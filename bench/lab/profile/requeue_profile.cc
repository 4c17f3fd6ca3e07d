// The cost of one event with N unschedulable pods, each waiting for an object of its own.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/lab/paths/claim_storm.h"
#include "bench/lab/paths/measured_path.h"
#include "bench/lab/paths/plugin_storm.h"
#include "bench/lab/profile/profile_kind.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

using MakeStorm =
    std::function<MeasuredPathRef(EngineKind engine, bool narrows, int64_t pods, int64_t events)>;

// Every engine, with and without narrowing.
std::vector<ProfileSubject> StormsOf(const MakeStorm& make_storm) {
  std::vector<ProfileSubject> subjects;
  for (const EngineKind engine : AllEngines()) {
    for (const bool narrows : {true, false}) {
      ProfileSubject subject;
      subject.name = std::string(EngineName(engine)) + (narrows ? "/narrowed" : "/all_pods");
      subject.operation = "event";
      subject.counts_judged_pods = true;
      subject.prepare = [=](uint64_t size, uint64_t operations_max) {
        const uint64_t events = operations_max == 0 ? size : std::min(size, operations_max);
        return make_storm(engine, narrows, static_cast<int64_t>(size),
                          static_cast<int64_t>(events));
      };
      subjects.push_back(std::move(subject));
    }
  }
  return subjects;
}

}  // namespace

ProfileKind RequeueProfile() {
  ProfileKind kind;
  kind.name = "requeue";
  kind.summary = "one claim event each for N unschedulable pods, narrowed to a pod and not";
  kind.size_of = "unschedulable pods";
  kind.subjects = StormsOf(
      [](EngineKind engine, bool narrows, int64_t pods, int64_t events) -> MeasuredPathRef {
        return std::make_unique<ClaimStorm>(ClaimStorm::Options{engine, narrows, pods, events});
      });
  return kind;
}

ProfileKind RequeueProfileOf(const std::vector<PluginSource>& plugins, const std::string& plugin) {
  ProfileKind kind = RequeueProfile();
  kind.subjects = StormsOf([plugins, plugin](EngineKind engine, bool narrows, int64_t pods,
                                             int64_t events) -> MeasuredPathRef {
    return std::make_unique<PluginStorm>(
        PluginStorm::Options{engine, narrows, pods, events, plugins, plugin});
  });
  return kind;
}

}  // namespace schedq
