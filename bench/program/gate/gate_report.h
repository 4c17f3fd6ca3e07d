// What the tiers of a gate say, in each form in which it is wanted.
// Threads: the main thread only.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "perf/compare/junit.h"
#include "perf/compare/results.h"
#include "perf/documents/history.h"

namespace schedq {

struct GateReport {
  std::vector<std::string> reasons;  // Why the gate fails; none: it does not.
  std::vector<std::string> doubts;   // What it cannot tell.
  std::string text;
  std::string markdown;
  std::vector<JunitSuite> junit;
  std::string annotations;                     // Workflow commands of GitHub, a line each.
  std::string engine;                          // That is judged now; empty: there is only one.
  std::map<std::string, HistoryValue> series;  // Of the new side, for --store.

  void Fail(std::string reason) { reasons.push_back(std::move(reason)); }
  void Doubt(std::string doubt) { doubts.push_back(std::move(doubt)); }
  // Of two engines each has suites of its own. What has not passed becomes annotations.
  void AddJunit(JunitSuite suite);
  // The medians of what somebody asked for, and their names behind `prefix`.
  void AddSeries(const std::string& prefix, const Results& next);
  bool IsEmpty() const { return reasons.empty() && doubts.empty() && junit.empty(); }
};

}  // namespace schedq
