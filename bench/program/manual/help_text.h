// The manual as text for a terminal.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/program/manual/manual.h"

namespace schedq {

// Help is wrapped to the terminal, but no line is longer than this.
inline constexpr size_t kHelpWidthMax = 100;
// Where there is no terminal.
inline constexpr size_t kHelpWidth = 80;

// The width of help on stdout.
size_t HelpWidth();

// What to type next, in ten lines: `schedq` alone.
std::string FirstSteps(const std::vector<ManualPage>& pages);

// All commands: `schedq --help`.
std::string ProgramHelp(const std::vector<ManualPage>& pages, size_t width);

// One command: `schedq run --help`.
std::string CommandHelp(const ManualPage& page, size_t width);

}  // namespace schedq
