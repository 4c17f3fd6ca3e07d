#include "tests/fuzz/trace_fuzz.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "bench/format/trace/trace_writer.h"
#include "engine/base/result.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

void ReadsBack(const TraceHeader& header) {
  const std::string line = FormatTraceHeader(header);
  const Result<TraceHeader> again = ParseTraceHeader(line);
  SCHEDQ_CHECK(again.ok() && FormatTraceHeader(*again) == line, "a header reads back");
}

void ReadsBack(const TraceOperation& operation, int version) {
  const std::string line = FormatTraceOperation(operation, version);
  const Result<TraceOperation> again = ParseTraceOperation(line, version);
  SCHEDQ_CHECK(again.ok() && FormatTraceOperation(*again, version) == line,
               "an operation reads back");
}

// The operations before the first that is none.
std::vector<TraceOperation> ReadOperations(std::string_view text, int version) {
  std::vector<TraceOperation> operations;
  while (!text.empty()) {
    Result<TraceOperation> operation = ParseTraceOperation(TakeLine(&text), version);
    if (!operation) break;
    ReadsBack(*operation, version);
    operations.push_back(std::move(*operation));
  }
  return operations;
}

// Returns the number of accepted operations.
size_t Replay(const TraceHeader& header, const std::vector<TraceOperation>& operations,
              EngineKind engine) {
  const auto replayer = Replayer::Create(header, engine);
  if (!replayer) return 0;
  const auto refused =
      std::find_if(operations.begin(), operations.end(),
                   [&](const TraceOperation& operation) { return !(*replayer)->Apply(operation); });
  return static_cast<size_t>(refused - operations.begin());
}

}  // namespace

size_t FuzzTrace(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<TraceHeader> header = ParseTraceHeader(TakeLine(&text));
  if (!header) return 0;
  ReadsBack(*header);
  const std::vector<TraceOperation> operations = ReadOperations(text, header->version);
  // An engine takes longer to make than a line to read. A header alone makes one as well.
  if (operations.empty() && !text.empty()) return 0;
  size_t accepted = operations.size();
  for (const EngineKind engine : AllEngines()) {
    accepted = std::min(accepted, Replay(*header, operations, engine));
  }
  return accepted;
}

bool FuzzTraceLine(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (line.find("schedq_trace") != std::string_view::npos) {
    const Result<TraceHeader> header = ParseTraceHeader(line);
    if (header) ReadsBack(*header);
    return header.ok();
  }
  const Result<TraceOperation> second = ParseTraceOperation(line, kTraceVersionWithGroups);
  if (second) ReadsBack(*second, kTraceVersionWithGroups);
  const Result<TraceOperation> first = ParseTraceOperation(line, 1);
  if (first) ReadsBack(*first, 1);
  SCHEDQ_CHECK(second.ok() || !first.ok(), "version 2 reads what version 1 reads");
  return second.ok();
}

}  // namespace schedq
