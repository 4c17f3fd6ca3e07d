// The manual as completions of shells: commands, their flags, and the values of these.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/program/manual/manual.h"

namespace schedq {

std::string BashCompletion(const std::vector<ManualPage>& pages);
std::string ZshCompletion(const std::vector<ManualPage>& pages);
std::string FishCompletion(const std::vector<ManualPage>& pages);

}  // namespace schedq
