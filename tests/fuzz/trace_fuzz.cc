#include "tests/fuzz/trace_fuzz.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/trace/replayer.h"
#include "bench/format/trace/trace.h"
#include "engine/base/result.h"
#include "schedq/engine_kind.h"
#include "tests/fuzz/trace_line_fuzz.h"

namespace schedq {
namespace {

std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

// The operations before the first that is none.
std::vector<TraceOperation> ReadOperations(std::string_view text, int version) {
  std::vector<TraceOperation> operations;
  while (!text.empty()) {
    Result<TraceOperation> operation = ParseTraceOperation(TakeLine(&text), version);
    if (!operation) break;
    CheckReadsBack(*operation, version);
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
  CheckReadsBack(*header);
  const std::vector<TraceOperation> operations = ReadOperations(text, header->version);
  // An engine takes longer to make than a line to read. A header alone makes one as well.
  if (operations.empty() && !text.empty()) return 0;
  size_t accepted = operations.size();
  for (const EngineKind engine : AllEngines()) {
    accepted = std::min(accepted, Replay(*header, operations, engine));
  }
  return accepted;
}

}  // namespace schedq
