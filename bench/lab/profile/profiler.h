// Measures the subjects of a profile kind at growing sizes.
//
// Purpose: all of profile.json except the environment. Within a size a round runs every subject
// once, in a newly shuffled order. A series stops before a size that would take longer than the
// limit, or more memory than there is, and records the reason; the forecast is the growth between
// its last two sizes.
// Threads: the main thread only.
// Invariants:
//  1. A run with a wrong answer is not recorded, and `faults` names it.
//  2. After an interrupt no run starts, and finished runs stay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/lab/profile/profile_kind.h"
#include "perf/documents/profile_document.h"

namespace schedq {

struct ProfilerOptions {
  std::vector<uint64_t> sizes;  // Ascending.
  uint64_t rounds = 3;
  uint64_t seed = 1;
  double run_seconds_max = 5;
  bool samples_time = true;       // One more run a series, at its largest size.
  uint64_t memory_bytes_max = 0;  // 0: most of what is free.
  // Told after each run what is finished, without fits. May be empty.
  std::function<void(std::vector<ProfileSeries> finished)> keep;
};

struct ProfilerResult {
  std::vector<ProfileSeries> series;
  std::vector<std::string> faults;  // One line for each wrong answer.
};

// Called before each run.
using ProfilerProgress =
    std::function<void(const std::string& subject, uint64_t size, uint64_t round)>;

ProfilerResult Profile(const ProfileKind& kind, const ProfilerOptions& options,
                       const ProfilerProgress& progress);

// Forecasts the seconds of a run of `size` from the last two measured pairs (size, seconds). With
// one pair the growth is taken as quadratic.
double ForecastSeconds(const std::vector<std::pair<double, double>>& measured, double size);
// The memory of a run of `size`: what each further element took between the last two. With one size
// nobody knows what is fixed, and the forecast is 0.
double ForecastBytes(const std::vector<std::pair<double, double>>& measured, double size);

}  // namespace schedq
