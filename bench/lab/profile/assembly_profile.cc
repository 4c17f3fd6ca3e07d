// What an operation costs through the assembled queue, against an engine that is wired by hand.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "bench/lab/paths/assembly_path.h"
#include "bench/lab/profile/profile_kind.h"

namespace schedq {
namespace {

constexpr double kFactorMax = 1.03;

std::string SeriesName(Wiring wiring, QueueOperation operation) {
  return std::string(wiring == Wiring::kByHand ? "by-hand/" : "assembled/") +
         std::string(QueueOperationName(operation));
}

}  // namespace

ProfileKind AssemblyProfile() {
  ProfileKind kind;
  kind.name = "assembly";
  kind.summary = "Add, Pop, Fail and Event through the assembled queue, and wired by hand";
  kind.size_of = "pods";
  for (const Wiring wiring : {Wiring::kByHand, Wiring::kAssembled}) {
    for (const QueueOperation operation : kQueueOperations) {
      ProfileSubject subject;
      subject.name = SeriesName(wiring, operation);
      subject.operation = "operation";
      subject.prepare = [=](uint64_t size, uint64_t operations_max) -> MeasuredPathRef {
        const uint64_t pods = operations_max == 0 ? size : std::min(size, operations_max);
        return std::make_unique<AssemblyPath>(wiring, operation, static_cast<int64_t>(pods));
      };
      kind.subjects.push_back(std::move(subject));
    }
  }
  for (const QueueOperation operation : kQueueOperations) {
    kind.promises.push_back({.proposal = "assembly",
                             .series = SeriesName(Wiring::kAssembled, operation),
                             .base = SeriesName(Wiring::kByHand, operation),
                             .factor_max = kFactorMax});
  }
  return kind;
}

}  // namespace schedq
