// The manual as man pages.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/program/manual/manual.h"

namespace schedq {

// schedq(1)
std::string ProgramManPage(const std::vector<ManualPage>& pages);

// schedq-run(1)
std::string CommandManPage(const ManualPage& page);

}  // namespace schedq
