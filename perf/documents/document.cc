#include "perf/documents/document.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "perf/documents/json_archive.h"
#include "perf/documents/json_text.h"
#include "perf/files/file_io.h"

namespace schedq {
namespace {

using json::Json;

// The path of a number that JSON cannot carry; empty when there is none. The recursion is bounded,
// because document types are not recursive.
std::string FindNotFinite(const Json& value, const std::string& path) {
  if (value.is_number_float()) {
    return std::isfinite(value.get<double>()) ? "" : path;
  }
  if (!value.is_structured()) return "";
  for (const auto& [key, element] : value.items()) {
    const std::string step = value.is_array() ? "[" + key + "]" : (path.empty() ? "" : ".") + key;
    std::string found = FindNotFinite(element, path + step);
    if (!found.empty()) return found;
  }
  return "";
}

std::string Printed(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// "3:14": the line and column of a byte. All three count from 1.
std::string LineAndColumn(std::string_view text, size_t number) {
  const std::string_view before = text.substr(0, std::min(number - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_break = before.rfind('\n');
  const size_t column = before.size() - (line_break == std::string_view::npos ? 0 : line_break + 1);
  return std::to_string(line) + ":" + std::to_string(column + 1);
}

Result<Json> ParseJson(std::string_view text, const std::string& name) {
  std::variant<Json, JsonProblem> parsed = ParseJsonText<Json>(text);
  const auto* problem = std::get_if<JsonProblem>(&parsed);
  if (problem == nullptr) return std::get<Json>(std::move(parsed));
  const std::string place = problem->byte == 0 ? "" : ":" + LineAndColumn(text, problem->byte);
  return Error(name + place + ": " + problem->what);
}

}  // namespace

template <typename Document>
Result<std::string> DocumentText(const Document& document) {
  const Json value = json::Encode(document);
  const std::string not_finite = FindNotFinite(value, "");
  if (!not_finite.empty()) return Error(not_finite + ": expected a finite number");
  return Printed(value);
}

template <typename Document>
Result<Document> ParseDocument(std::string_view text, const std::string& name) {
  const Result<Json> parsed = ParseJson(text, name);
  if (!parsed.ok()) return parsed.error();
  json::Cursor cursor;
  Document document;
  json::Decode(cursor, *parsed, document);
  if (cursor.failed()) return Error(name + ": " + *cursor.error());
  return document;
}

template <typename Document>
Status WriteDocument(const Document& document, const std::string& path) {
  const Result<std::string> text = DocumentText(document);
  if (!text.ok()) return Error(path + ": " + text.error().message());
  return WriteFileAtomically(path, *text);
}

template <typename Document>
Result<Document> ReadDocument(const std::string& path) {
  const Result<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return text.error();
  return ParseDocument<Document>(*text, path);
}

template <typename Document>
std::string DocumentSchema() {
  Json schema = Json::object();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = Document::kTitle;
  schema.update(json::SchemaOf<Document>());
  return Printed(schema);
}

SCHEDQ_DOCUMENT(, RunDocument)
SCHEDQ_DOCUMENT(, BenchDocument)
SCHEDQ_DOCUMENT(, FloorDocument)
SCHEDQ_DOCUMENT(, DataItemsDocument)
SCHEDQ_DOCUMENT(, ProfileDocument)
SCHEDQ_DOCUMENT(, BarsDocument)
SCHEDQ_DOCUMENT(, ScaleDocument)

}  // namespace schedq
