// Measures the subjects of a profile kind at growing sizes.
//
// Purpose: everything of profile.json but the environment. Within a size a round runs every subject
// once, in an order shuffled anew. A subject whose next size would take longer than the limit stops
// there and says so; the forecast is the growth between its last two sizes.
// Threads: the main thread only.
// Invariants:
// 1. A run whose answer was wrong is not recorded, and is named in `faults`.
// 2. After an interrupt nothing new starts, and what was measured stays.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/lab/profile/profile_kind.h"
#include "perf/documents/profile_document.h"

namespace schedq {

struct ProfilerOptions {
  std::vector<uint64_t> sizes;  // Ascending.
  uint64_t rounds = 3;
  uint64_t seed = 1;
  double run_seconds_max = 5;
  bool samples_time = true;  // One more run a series, at its largest size.
};

struct ProfilerResult {
  std::vector<ProfileSeries> series;
  std::vector<std::string> faults;  // One line each.
};

// Told before each run.
using ProfilerProgress =
    std::function<void(const std::string& subject, uint64_t size, uint64_t round)>;

ProfilerResult Profile(const ProfileKind& kind, const ProfilerOptions& options,
                       const ProfilerProgress& progress);

// How long a run of `size` will take, from the last two (size, seconds) that were measured;
// quadratic when there is one only.
double ForecastSeconds(const std::vector<std::pair<double, double>>& measured, double size);

}  // namespace schedq
