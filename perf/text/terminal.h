// What the terminal behind a file descriptor can show.
//
// Threads: any; reads the environment and asks the kernel.
#pragma once

#include <cstddef>
#include <optional>

#include "perf/text/table.h"

namespace schedq {

// A terminal that can move its cursor: not "dumb".
bool IsTerminal(int descriptor);

// Whether to colour what goes there: a terminal, and NO_COLOR is unset or empty.
bool WantsColour(int descriptor);

// How many columns the terminal has: what the kernel says, else COLUMNS, else 80. nullopt: there is
// no terminal.
std::optional<size_t> TerminalColumns(int descriptor);

// How tables look there: at most 100 columns, fewer where the terminal has fewer.
TableLayout LayoutOf(int descriptor, bool wide);

}  // namespace schedq
