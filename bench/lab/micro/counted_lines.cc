#include "bench/lab/micro/counted_lines.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/lab/scale/scale_curve.h"
#include "bench/lab/scale/scale_path.h"
#include "engine/base/result.h"
#include "perf/documents/scale_document.h"

namespace schedq {
namespace {

constexpr uint32_t kThreads = 8;
constexpr uint64_t kOperations = 20'000;
constexpr uint64_t kTinyOperations = 400;
constexpr uint64_t kSeed = 1;

Counters Count(const std::string& path, uint64_t operations) {
  for (const scale::ScaleContestant& one : scale::AllContestants()) {
    if (one.path != path || one.role != ContenderRole::kProduct) continue;
    const ScalePoint point = scale::PointOf(kThreads, one.count({kThreads, operations, kSeed}));
    return {{kContendedCounter, point.contended_updates}, {kLinesCounter, point.lines}};
  }
  SCHEDQ_CHECK(false, "schedq scale has the path");
}

}  // namespace

CountOnce CountedOn(const std::string& path, bool is_tiny) {
  return [path, operations = is_tiny ? kTinyOperations : kOperations] {
    static std::map<std::pair<std::string, uint64_t>, Counters> counted;
    const auto [entry, is_new] = counted.try_emplace({path, operations});
    if (is_new) entry->second = Count(path, operations);
    return entry->second;
  };
}

}  // namespace schedq
