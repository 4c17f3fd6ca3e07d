// What the history of a product's figures says: each series, drawn, and where it changed.
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "perf/documents/history.h"
#include "perf/statistics/change_points.h"
#include "perf/text/table.h"

namespace schedq {

// A change that stayed, and the commits between which it came.
struct HistoryChange {
  size_t index = 0;         // Of the first run behind it.
  std::string last_before;  // Commits.
  std::string first_behind;
  double before = 0;  // Medians of what lies between this change and its neighbours.
  double behind = 0;
  double p = 1;

  // Relative; infinite where it was 0 before.
  double Change() const;
};

struct SeriesHistory {
  std::string name;
  std::string unit;
  std::vector<double> values;
  std::vector<std::string> commits;  // Of each value.
  std::vector<HistoryChange> changes;
  size_t left_out = 0;  // Older values, of a series that is longer than kSeriesMax.
};

struct HistoryRequest {
  ChangePointOptions points;
  double change_min = 0.05;  // Smaller changes are not reported.
};

// The series of all runs, by name. A run that lacks a series is left out of it.
std::vector<SeriesHistory> SeriesOf(const std::vector<HistoryRun>& runs,
                                    const HistoryRequest& request);

// A row a series with its course, and below a line for each change.
std::string HistoryText(const std::vector<SeriesHistory>& series, const TableLayout& layout);

}  // namespace schedq
