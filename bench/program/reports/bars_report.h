// `schedq bench --bars`: measures what the bars need, judges them and prints the table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/lab/bars/bar.h"
#include "bench/lab/micro/benchmark_driver.h"
#include "engine/base/result.h"
#include "perf/documents/bars_document.h"

namespace schedq {

struct BarsOptions {
  std::string pattern;  // Rows whose path, size or group matches; all when empty.
  bool is_tiny = false;
  BenchmarkRunOptions run;
};

// The rows that `pattern` leaves, measured. Wrong answers are added to `faults`. An error says that
// the pattern is wrong, or leaves nothing.
Result<BarsDocument> MeasureBars(const BarsOptions& options,
                                 const std::function<void(const std::string&)>& progress,
                                 std::vector<std::string>* faults);

// The table, and below it the floor's arithmetic and the reasons.
std::string BarsText(const BarsDocument& document, bool colour);

// A row that was measured and falls short.
bool FallsShort(const BarsDocument& document);

}  // namespace schedq
