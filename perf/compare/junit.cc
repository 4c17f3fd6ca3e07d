#include "perf/compare/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "perf/text/visible_text.h"

namespace schedq {
namespace {

size_t CountOf(const JunitSuite& suite, JunitOutcome outcome) {
  return static_cast<size_t>(
      std::count_if(suite.cases.begin(), suite.cases.end(),
                    [outcome](const JunitCase& one) { return one.outcome == outcome; }));
}

double SecondsOf(const JunitSuite& suite) {
  double seconds = 0;
  for (const JunitCase& one : suite.cases) seconds += one.seconds;
  return seconds;
}

std::string CaseText(const std::string& suite, const JunitCase& one) {
  const std::string head =
      fmt::format("  <testcase classname=\"schedq.gate.{}\" name=\"{}\" time=\"{:.3f}\"", suite,
                  XmlText(one.name), one.seconds);
  switch (one.outcome) {
    case JunitOutcome::kPassed:
      break;
    case JunitOutcome::kFailed:
      return fmt::format("{}>\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n", head,
                         XmlText(one.message), XmlText(one.details));
    case JunitOutcome::kSkipped:
      return fmt::format("{}>\n    <skipped message=\"{}\"/>\n  </testcase>\n", head,
                         XmlText(one.message));
  }
  return head + "/>\n";
}

std::string SuiteText(const JunitSuite& suite) {
  const std::string name = XmlText(suite.name);
  std::string text = fmt::format(
      "<testsuite name=\"schedq gate {}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n",
      name, suite.cases.size(), CountOf(suite, JunitOutcome::kFailed),
      CountOf(suite, JunitOutcome::kSkipped), SecondsOf(suite));
  for (const JunitCase& one : suite.cases) text += CaseText(name, one);
  return text + "</testsuite>\n";
}

}  // namespace

std::string JunitText(const std::vector<JunitSuite>& suites) {
  std::string text;
  size_t tests = 0;
  size_t failures = 0;
  for (const JunitSuite& suite : suites) {
    tests += suite.cases.size();
    failures += CountOf(suite, JunitOutcome::kFailed);
    text += SuiteText(suite);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"schedq gate\" tests=\"{}\" failures=\"{}\">\n{}</testsuites>\n",
      tests, failures, text);
}

}  // namespace schedq
