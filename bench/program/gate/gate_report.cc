#include "bench/program/gate/gate_report.h"

#include <fmt/format.h>

#include "perf/statistics/summary.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

// In a workflow command a value ends at its line, and a property at a comma or colon, too.
std::string Escaped(const std::string& text, bool is_property) {
  std::string escaped;
  for (const char letter : VisibleText(text)) {
    const bool is_end = is_property && (letter == ':' || letter == ',');
    if (letter == '%' || is_end) {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

std::string Annotation(const std::string& suite, const JunitCase& one) {
  const bool is_error = one.outcome == JunitOutcome::kFailed;
  return fmt::format("::{} title={}::{}: {}\n", is_error ? "error" : "warning",
                     Escaped("schedq gate " + suite, true), Escaped(one.name, false),
                     Escaped(one.message, false));
}

}  // namespace

void GateReport::AddJunit(JunitSuite suite) {
  if (!engine.empty()) suite.name = engine + "." + suite.name;
  for (const JunitCase& one : suite.cases) {
    if (one.outcome != JunitOutcome::kPassed) annotations += Annotation(suite.name, one);
  }
  junit.push_back(std::move(suite));
}

void GateReport::AddSeries(const std::string& prefix, const Results& next) {
  for (const auto& [name, metric] : next.metrics) {
    if (!metric.is_asked_for || metric.values.empty()) continue;
    series[prefix + name] = {Median(metric.values), metric.unit};
  }
}

}  // namespace schedq
