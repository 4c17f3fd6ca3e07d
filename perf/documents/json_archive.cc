#include "perf/documents/json_archive.h"

namespace schedq::json {
namespace {

// A value as an error message shows it: short, and on one line.
std::string Shown(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "an array";
  constexpr size_t kLengthMax = 40;
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLengthMax) text = text.substr(0, kLengthMax) + "...";
  return text;
}

}  // namespace

void Cursor::Expect(const std::string& what, const Json& got) {
  Fail("expected " + what + ", got " + Shown(got));
}

void Cursor::Fail(const std::string& message) {
  if (error_.has_value()) return;
  // A key may hold any text, even a line break; as JSON it stays on one line.
  std::string path = Json(path_).dump(-1, ' ', true, Json::error_handler_t::replace);
  path = path.substr(1, path.size() - 2);
  error_ = (path.empty() ? "the document" : path) + ": " + message;
}

Cursor::Step::Step(Cursor& cursor, std::string_view key)
    : cursor_(cursor), length_(cursor.path_.size()) {
  if (!cursor_.path_.empty()) cursor_.path_ += '.';
  cursor_.path_ += key;
}

Cursor::Step::Step(Cursor& cursor, size_t index) : cursor_(cursor), length_(cursor.path_.size()) {
  cursor_.path_ += '[' + std::to_string(index) + ']';
}

void Reader::Version(const char* key, uint64_t number) {
  const Json* json = Find(key, true);
  if (json == nullptr) return;
  const Cursor::Step step(cursor_, key);
  if (!json->is_number_unsigned() || json->get<uint64_t>() != number) {
    cursor_.Expect("version " + std::to_string(number), *json);
  }
}

const Json* Reader::Find(const char* key, bool required) {
  known_keys_.insert(key);
  if (cursor_.failed()) return nullptr;
  const auto found = object_.find(key);
  if (found != object_.end()) return &*found;
  if (required) cursor_.Fail(std::string("expected the key \"") + key + "\", which is missing");
  return nullptr;
}

void Reader::RejectUnknownKeys() {
  if (cursor_.failed()) return;
  for (const auto& [key, value] : object_.items()) {
    if (known_keys_.contains(key)) continue;
    std::string expected;
    for (const std::string& known : known_keys_) expected += (expected.empty() ? "" : ", ") + known;
    const Cursor::Step step(cursor_, key);
    return cursor_.Fail("unknown key, expected one of " + expected);
  }
}

void DecodeScalar(Cursor& cursor, const Json& json, bool& value) {
  if (!json.is_boolean()) return cursor.Expect("true or false", json);
  value = json.get<bool>();
}

void DecodeScalar(Cursor& cursor, const Json& json, uint64_t& value) {
  if (!json.is_number_unsigned()) return cursor.Expect("a whole number from 0", json);
  value = json.get<uint64_t>();
}

void DecodeScalar(Cursor& cursor, const Json& json, double& value) {
  if (!json.is_number()) return cursor.Expect("a number", json);
  value = json.get<double>();
}

void DecodeScalar(Cursor& cursor, const Json& json, std::string& value) {
  if (!json.is_string()) return cursor.Expect("a string", json);
  value = json.get<std::string>();
}

void SchemaWriter::Version(const char* key, uint64_t number) {
  Add(key, Json{{"const", number}}, "Version of this file's format.", true);
}

void SchemaWriter::Add(const char* key, const Json& schema, const char* about, bool required) {
  Json described = Json::object();
  described["description"] = about;
  described.update(schema);
  properties_[key] = std::move(described);
  if (required) required_.push_back(key);
}

Json SchemaWriter::Take() {
  return Json{{"type", "object"},
              {"properties", std::move(properties_)},
              {"required", std::move(required_)},
              {"additionalProperties", false}};
}

Json ScalarSchema(const bool*) { return Json{{"type", "boolean"}}; }
Json ScalarSchema(const uint64_t*) { return Json{{"type", "integer"}, {"minimum", 0}}; }
Json ScalarSchema(const double*) { return Json{{"type", "number"}}; }
Json ScalarSchema(const std::string*) { return Json{{"type", "string"}}; }

}  // namespace schedq::json
