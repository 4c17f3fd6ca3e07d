// What `schedq profile` prints.
// Threads: pure functions.
#pragma once

#include <string>

#include "bench/lab/profile/profile_kind.h"
#include "perf/documents/profile_document.h"
#include "perf/text/table.h"

namespace schedq {

// A table of medians by series and size, the fitted exponents, a log-log plot of time, and where
// the time went in each series.
std::string ProfileText(const ProfileDocument& document, const ProfileKind& kind,
                        const TableLayout& layout);

}  // namespace schedq
