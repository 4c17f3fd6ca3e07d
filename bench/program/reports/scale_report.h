// What `schedq scale` prints: counts, predictions and measurements, one table a path.
// Threads: pure functions.
#pragma once

#include <string>

#include "perf/documents/scale_document.h"
#include "perf/text/table.h"

namespace schedq {

// The tables, the formula with this machine's figures, and the words.
std::string ScaleText(const ScaleDocument& document, const TableLayout& layout);

}  // namespace schedq
