// The text of Go benchmarks, which benchstat reads: written for runs, and read.
//
// Source: golang.org/x/perf/benchfmt says what a line means. Rules that matter here:
//  1. A line that begins with "Benchmark" is a name, a whole number and pairs of value and unit,
//     with blanks between. A name alone is what `go test` prints before its output.
//  2. "Unit UNIT key=value ..." says of a unit which direction is better, and with assume=exact
//     that repeating a measurement adds nothing. Two lines that contradict each other are an
//     error.
//  3. "key: value", with a key in lower case, says under what the lines below were measured.
//     benchstat shows lines that differ in it apart.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "perf/documents/run_document.h"

namespace schedq {

// All lines of a run: what they were measured under, what is known of their units, and one line a
// repetition:
//
//   BenchmarkPerfScheduling/<case>/<workload>-<cores> 1 <value> <Metric>/<bucket> ...
//
// A run on the virtual clock says nothing of the machine, because its values do not depend on it:
// neither "cpu:" nor "-<cores>". Blanks in names become underscores. A metric whose unit differs
// from the one in its name (..._seconds in ms) has the unit in its name, as scheduler_perf does it.
// Where a workload measured several sections, those after the first are named in their units.
std::string BenchstatText(const RunDocument& document);

struct BenchstatFile {
  struct Value {
    std::string name;  // Without "Benchmark".
    std::string unit;
    double value = 0;
  };
  std::vector<Value> values;                     // In the order of the file.
  std::map<std::string, bool> higher_is_better;  // Of units for which the file says it.
  std::set<std::string> exact;                   // Units of which the file says so.
};

// Whether a text looks like one of these files: one of its first lines begins so.
bool IsBenchstat(std::string_view head);

// `name` stands in the error, which is one line with the number of the line.
Result<BenchstatFile> ParseBenchstat(std::string_view text, const std::string& name);

}  // namespace schedq
