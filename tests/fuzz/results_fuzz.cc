#include "tests/fuzz/results_fuzz.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/result.h"
#include "perf/compare/changes.h"
#include "perf/compare/changes_report.h"
#include "perf/compare/counters.h"
#include "perf/compare/junit.h"
#include "perf/compare/report.h"
#include "perf/compare/results.h"
#include "perf/documents/bars_document.h"
#include "perf/documents/bench_document.h"
#include "perf/documents/data_items.h"
#include "perf/documents/document.h"
#include "perf/documents/floor_document.h"
#include "perf/documents/profile_document.h"
#include "perf/documents/run_document.h"
#include "perf/text/pattern.h"
#include "perf/text/visible_text.h"

namespace schedq {
namespace {

constexpr size_t kInputBytesMax = 64u << 10;  // Larger inputs would test only their size.
constexpr size_t kQuotedBytesMax = 4u << 10;  // Of a text whose pattern is made.

std::string TextOf(const uint8_t* data, size_t size) {
  return std::string(reinterpret_cast<const char*>(data), std::min(size, kInputBytesMax));
}

void CheckMessage(const Error& error) {
  SCHEDQ_CHECK(error.message().starts_with("fuzz.json:"), "an error names the file");
  SCHEDQ_CHECK(error.message().find('\n') == std::string::npos, "an error is one line");
}

// A document that was read is written as bytes that read back as the same bytes.
template <typename Document>
bool ReadsBack(const Result<Document>& read) {
  if (!read) {
    CheckMessage(read.error());
    return false;
  }
  const Result<std::string> text = DocumentText(*read);
  SCHEDQ_CHECK(text.ok(), "what JSON carried can be written");
  const Result<Document> again = ParseDocument<Document>(*text, "fuzz.json");
  SCHEDQ_CHECK(again.ok() && *DocumentText(*again) == *text, "a document reads back");
  return true;
}

void IsHarmless(const std::string& text) {
  SCHEDQ_CHECK(VisibleLines(text) == text, "a report holds no control characters");
}

void CompareWithItself(const RunDocument& run) {
  const auto command = [](const CounterChange& change) {
    return RunAgainCommand(RunDocument(), change.workload, change.seed);
  };
  RunDocument changed = run;
  for (WorkloadResult& result : changed.workloads) {
    for (Repetition& repetition : result.repetitions) repetition.counters["new"] ^= 1;
  }
  for (const RunDocument* next : {&run, static_cast<const RunDocument*>(&changed)}) {
    const Result<CounterComparison> compared = CompareCounters(run, *next, {});
    if (!compared) continue;
    SCHEDQ_CHECK(compared->counters > 0, "nothing is no pass");
    IsHarmless(CountersText(*compared, command, 3, false));
    IsHarmless(CountersMarkdown(*compared, command));
    IsHarmless(JunitText({CountersJunit(*compared, command, {})}));
  }
  Results before;
  AddRun(run, &before);
  const Result<Changes> changes = CompareMetrics(before, before);
  if (!changes) return;
  IsHarmless(ChangesTable(*changes, true, {}));
  IsHarmless(ChangesMarkdown(*changes, true));
  IsHarmless(JunitText({ChangesJunit(*changes, {}, true)}));
}

}  // namespace

bool FuzzResults(const uint8_t* data, size_t size) {
  const std::string text = TextOf(data, size);
  // As the command that reads results looks for its kind; a text of none is read as a run.
  const auto names = [&text](const char* key) { return text.find(key) != std::string::npos; };
  if (names("\"schedq_bench\"")) {
    return ReadsBack(ParseDocument<BenchDocument>(text, "fuzz.json"));
  }
  if (names("\"schedq_floor\"")) {
    return ReadsBack(ParseDocument<FloorDocument>(text, "fuzz.json"));
  }
  if (names("\"schedq_profile\"")) {
    return ReadsBack(ParseDocument<ProfileDocument>(text, "fuzz.json"));
  }
  if (names("\"schedq_bars\"")) {
    return ReadsBack(ParseDocument<BarsDocument>(text, "fuzz.json"));
  }
  const Result<RunDocument> run = ParseDocument<RunDocument>(text, "fuzz.json");
  const bool is_run = ReadsBack(run);
  if (is_run) CompareWithItself(*run);
  return is_run;
}

bool FuzzDataItems(const uint8_t* data, size_t size) {
  Result<DataItemsDocument> items =
      ParseDocument<DataItemsDocument>(TextOf(data, size), "fuzz.json");
  if (!ReadsBack(items)) return false;
  CompleteLabels(items->items);
  return ReadsBack(items);
}

bool FuzzPattern(const uint8_t* data, size_t size) {
  const std::string text = TextOf(data, size);
  const std::string_view expression = std::string_view(text).substr(0, text.find('\n'));
  const std::string_view rest = std::string_view(text).substr(expression.size());
  const Result<Pattern> pattern = Pattern::Parse(expression);
  if (pattern) {
    pattern->IsFoundIn(rest);
  } else {
    IsHarmless(pattern.error().message());
  }
  if (FindWhatIsNotUtf8(expression) == std::string_view::npos &&
      expression.size() < kQuotedBytesMax) {
    const Result<Pattern> exactly = Pattern::Parse(PatternOfExactly(expression));
    SCHEDQ_CHECK(exactly.ok() && exactly->IsFoundIn(expression), "a text is found by its pattern");
    SCHEDQ_CHECK(!exactly->IsFoundIn(std::string(expression) + "x"), "and no longer one is");
  }
  SCHEDQ_CHECK(FindWhatIsNotUtf8(VisibleText(text)) == std::string_view::npos,
               "what is shown is UTF-8");
  return pattern.ok();
}

}  // namespace schedq
