// What a profile says in a sentence, before its tables.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/lab/profile/profile_kind.h"
#include "perf/documents/profile_document.h"
#include "perf/statistics/measurement.h"

namespace schedq {

// How cost grows with N, and for requeue what narrowing saves. Empty: too little was measured.
std::string ProfileAnswer(const ProfileDocument& document, const ProfileKind& kind, size_t width);

// A series whose time grows although its work does not, or faster than it.
bool TimeOutgrowsWork(const ProfileDocument& document);

// Why that may be: what a cache miss costs on this machine, by the floor's probes random_miss.
std::string WhyTimeOutgrowsWork(const std::vector<Measurement>& misses, size_t width);

}  // namespace schedq
