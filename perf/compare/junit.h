// JUnit reports, as continuous integration shows them: a suite a tier, a case a workload.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace schedq {

enum class JunitOutcome : uint8_t { kPassed, kFailed, kSkipped };

struct JunitCase {
  std::string name;  // The workload's.
  double seconds = 0;
  JunitOutcome outcome = JunitOutcome::kPassed;
  std::string message;  // Of a case that has not passed, one line.
  std::string details;
};

struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

std::string JunitText(const std::vector<JunitSuite>& suites);

}  // namespace schedq
