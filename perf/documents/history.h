// The history of a product's figures: one line a run in history.jsonl, and Otava's CSV.
//
// Source: the CSV is that of Apache Otava (github.com/apache/otava): a header, then a line a run,
// with columns time, commit, and one for each metric.
// Threads: pure functions, but for AppendToHistory.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

struct HistoryValue {
  double value = 0;
  std::string unit;  // Empty: not known; of Otava's CSV it is not.

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("value", self.value, "What was measured.");
    archive.Optional("unit", self.unit, "Its unit.");
  }
};

struct HistoryRun {
  std::string time;    // RFC3339.
  std::string commit;  // As the build says it.
  std::map<std::string, HistoryValue> series;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Version("schedq_history", 1);
    archive.Field("time", self.time, "When it was measured, RFC3339.");
    archive.Field("commit", self.commit, "The commit of what was measured.");
    archive.Field("series", self.series, "One value a series.");
  }
};

inline constexpr const char* kHistoryFile = "history.jsonl";

// One line without its line break.
Result<std::string> HistoryLine(const HistoryRun& run);
// `name` stands in the error, with the number of the line.
Result<std::vector<HistoryRun>> ParseHistory(std::string_view text, const std::string& name);

std::string OtavaCsv(const std::vector<HistoryRun>& runs);
Result<std::vector<HistoryRun>> ParseOtavaCsv(std::string_view text, const std::string& name);

// Adds the runs to history.jsonl in the folder, which is made where it is missing. Of several
// processes each adds its lines whole.
Status AppendToHistory(const std::string& folder, const std::vector<HistoryRun>& runs);

}  // namespace schedq
