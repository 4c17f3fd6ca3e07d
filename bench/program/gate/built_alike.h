// Whether two programs were built alike, so that their costs can be compared.
// Threads: the main thread only.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace schedq {

// Runs `version` of both. An error says in what they differ: compiler, flags, type of the build or
// allocator.
Status CheckBuiltAlike(const std::string& base, const std::string& next);

}  // namespace schedq
