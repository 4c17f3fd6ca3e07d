// All scenarios of the dispatcher as tables, and what the proposals promise as verdicts.
// Threads: the caller's. Equal seeds give equal text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace schedq {

struct DispatchReportOptions {
  uint64_t seed = 1;
  bool colour = false;
  bool is_quick = false;  // Without the scenarios of 100,000 pods.
  // Named before it starts; may be empty.
  std::function<void(const std::string& what)> progress;
};

struct DispatchVerdict {
  std::string line;  // What was promised and what was measured.
  bool holds = false;
};

struct DispatchReport {
  std::string tables;
  std::vector<DispatchVerdict> verdicts;
};

DispatchReport RunDispatchScenarios(const DispatchReportOptions& options);

}  // namespace schedq
