// The cost of an attempt to allocate devices, with N devices in the cluster: ten on each node, half
// of them in use. The variants are what the claim asks for.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "bench/lab/paths/device_path.h"
#include "bench/lab/paths/measured_path.h"
#include "bench/lab/paths/selector_path.h"
#include "bench/lab/profile/profile_kind.h"

namespace schedq {
namespace {

constexpr uint64_t kAttempts = 10'000;

ProfileSubject SubjectOf(const char* name, DeviceWish wish, int64_t percent_in_use) {
  ProfileSubject subject;
  subject.name = name;
  subject.operation = "attempt";
  subject.prepare = [wish, percent_in_use](uint64_t size,
                                           uint64_t operations_max) -> MeasuredPathRef {
    DeviceLoad load;
    load.devices = static_cast<int64_t>(size);
    load.wish = wish;
    load.percent_in_use = percent_in_use;
    const uint64_t attempts = operations_max == 0 ? kAttempts : std::min(kAttempts, operations_max);
    load.attempts = static_cast<int64_t>(attempts);
    return std::make_unique<DeviceAttempts>(load);
  };
  return subject;
}

ProfileSubject SubjectOf(const char* name, SelectorLook look) {
  ProfileSubject subject;
  subject.name = name;
  subject.operation = "evaluation";
  subject.prepare = [look](uint64_t size, uint64_t operations_max) -> MeasuredPathRef {
    constexpr uint64_t kEvaluations = 100'000;
    const uint64_t evaluations =
        operations_max == 0 ? kEvaluations : std::min(kEvaluations, operations_max);
    return std::make_unique<SelectorEvaluations>(look, size, evaluations);
  };
  return subject;
}

}  // namespace

ProfileKind DevicesProfile() {
  ProfileKind kind;
  kind.name = "devices";
  kind.summary = "claims get devices of N in the cluster, by class, selector and constraint";
  kind.size_of = "devices";
  kind.subjects = {SubjectOf("allocator/one", DeviceWish::kOne, 50),
                   SubjectOf("allocator/selected", DeviceWish::kSelected, 50),
                   SubjectOf("allocator/matching", DeviceWish::kMatching, 0),
                   SubjectOf("allocator/alternatives", DeviceWish::kAlternatives, 50),
                   SubjectOf("allocator/rare", DeviceWish::kRare, 50),
                   SubjectOf("selector/driver", SelectorLook::kDriver),
                   SubjectOf("selector/attributes", SelectorLook::kAttributes),
                   SubjectOf("selector/list", SelectorLook::kList),
                   SubjectOf("selector/pattern", SelectorLook::kPattern)};
  return kind;
}

}  // namespace schedq
