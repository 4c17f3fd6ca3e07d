// `schedq bench --bars`: measures what the bars need, judges them and prints the table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/lab/micro/benchmark_driver.h"
#include "engine/base/result.h"
#include "perf/documents/bars_document.h"
#include "perf/text/table.h"

namespace schedq {

struct BarsOptions {
  std::string pattern;  // Rows whose path, size or group matches; all when empty.
  bool is_tiny = false;
  BenchmarkRunOptions run;
  // Told after each row what there is. May be empty.
  std::function<void(const BarsDocument& measured)> keep;
};

// The rows that `pattern` leaves, measured. Wrong answers are added to `faults`. An error says that
// the pattern is wrong, or leaves nothing.
// Shows its progress.
Result<BarsDocument> MeasureBars(const BarsOptions& options, std::vector<std::string>* faults);

// The table, and below it the floor's arithmetic and the reasons.
std::string BarsText(const BarsDocument& document, const TableLayout& layout);

// A row that was measured and falls short.
bool FallsShort(const BarsDocument& document);

}  // namespace schedq
