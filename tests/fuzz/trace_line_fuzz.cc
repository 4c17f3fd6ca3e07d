#include "tests/fuzz/trace_line_fuzz.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bench/format/trace/json_fields.h"
#include "bench/format/trace/trace_writer.h"
#include "engine/base/result.h"

namespace schedq {

void CheckReadsBack(const TraceHeader& header) {
  const std::string line = FormatTraceHeader(header);
  const Result<TraceHeader> again = ParseTraceHeader(line);
  SCHEDQ_CHECK(again.ok() && FormatTraceHeader(*again) == line, "a header reads back");
}

void CheckReadsBack(const TraceOperation& operation, int version) {
  const std::string line = FormatTraceOperation(operation, version);
  const Result<TraceOperation> again = ParseTraceOperation(line, version);
  SCHEDQ_CHECK(again.ok() && FormatTraceOperation(*again, version) == line,
               "an operation reads back");
}

bool FuzzTraceLine(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (line.find("schedq_trace") != std::string_view::npos) {
    const Result<TraceHeader> header = ParseTraceHeader(line);
    if (header) CheckReadsBack(*header);
    return header.ok();
  }
  const Result<nlohmann::json> value = ParseJsonLine(line);
  if (!value) return false;
  const Result<TraceOperation> second = DecodeTraceOperation(*value, kTraceVersionWithGroups);
  if (second) CheckReadsBack(*second, kTraceVersionWithGroups);
  const Result<TraceOperation> first = DecodeTraceOperation(*value, 1);
  if (first) CheckReadsBack(*first, 1);
  SCHEDQ_CHECK(second.ok() || !first.ok(), "version 2 reads what version 1 reads");
  return second.ok();
}

}  // namespace schedq
