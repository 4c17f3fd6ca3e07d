#include "bench/format/trace/json_fields.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "perf/documents/json_text.h"

namespace schedq {
namespace {

using nlohmann::json;

const json& EmptyArray() {
  static const json kEmpty = json::array();
  return kEmpty;
}

const json& EmptyObject() {
  static const json kEmpty = json::object();
  return kEmpty;
}

}  // namespace

Result<json> ParseJsonLine(std::string_view line) {
  std::variant<json, JsonProblem> parsed = ParseJsonText<json>(line);
  const auto* problem = std::get_if<JsonProblem>(&parsed);
  if (problem == nullptr) return std::get<json>(std::move(parsed));
  if (problem->byte == 0) return Error(problem->what);
  return Error("not JSON: " + problem->what + ", byte " + std::to_string(problem->byte) +
               " of the line");
}

std::optional<int64_t> Int64Of(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && !std::in_range<int64_t>(value.get<uint64_t>())) {
    return std::nullopt;
  }
  return value.get<int64_t>();
}

JsonFields::JsonFields(const json& json, std::string what) : json_(json), what_(std::move(what)) {
  if (!json_.is_object()) Refuse(what_ + ": expected an object, got " + json_.type_name());
}

bool JsonFields::Has(std::string_view field) const {
  return json_.is_object() && json_.contains(field);
}

std::string JsonFields::Text(std::string_view field) {
  const json* value = FindTyped(field, true, &json::is_string, "a string");
  return value == nullptr ? std::string() : value->get<std::string>();
}

int64_t JsonFields::Integer(std::string_view field) {
  const json* value = FindTyped(field, true, &json::is_number_integer, "an integer");
  if (value == nullptr) return 0;
  const std::optional<int64_t> number = Int64Of(*value);
  if (!number) Refuse(what_ + ": field " + std::string(field) + " is out of range");
  return number.value_or(0);
}

const json& JsonFields::Array(std::string_view field) {
  const json* value = FindTyped(field, true, &json::is_array, "an array");
  return value == nullptr ? EmptyArray() : *value;
}

const json& JsonFields::Object(std::string_view field) {
  const json* value = FindTyped(field, true, &json::is_object, "an object");
  return value == nullptr ? EmptyObject() : *value;
}

std::string JsonFields::TextOr(std::string_view field, std::string_view absent) {
  const json* value = FindTyped(field, false, &json::is_string, "a string");
  return value == nullptr ? std::string(absent) : value->get<std::string>();
}

int64_t JsonFields::IntegerOr(std::string_view field, int64_t absent, int64_t min, int64_t max) {
  const json* value = FindTyped(field, false, &json::is_number_integer, "an integer");
  if (value == nullptr) return absent;
  const std::optional<int64_t> number = Int64Of(*value);
  if (!number || *number < min || *number > max) {
    Refuse(what_ + ": field " + std::string(field) + " is out of range: expected " +
           std::to_string(min) + " to " + std::to_string(max));
    return absent;
  }
  return *number;
}

bool JsonFields::BoolOr(std::string_view field, bool absent) {
  const json* value = FindTyped(field, false, &json::is_boolean, "true or false");
  return value == nullptr ? absent : value->get<bool>();
}

std::vector<std::string> JsonFields::TextsOr(std::string_view field) {
  const json* value = FindTyped(field, false, &json::is_array, "an array of strings");
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  for (const json& item : *value) {
    if (!item.is_string()) {
      Refuse(what_ + ": field " + std::string(field) + " has " + item.type_name() +
             ", expected strings");
      return {};
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

const json* JsonFields::ObjectOr(std::string_view field) {
  return FindTyped(field, false, &json::is_object, "an object");
}

const json* JsonFields::AnyOr(std::string_view field) { return Find(field, false); }

void JsonFields::Refuse(std::string message) {
  if (!error_) error_ = Error(std::move(message));
}

Status JsonFields::Finish() {
  if (error_) return *error_;
  for (const auto& [field, value] : json_.items()) {
    if (std::find(known_fields_.begin(), known_fields_.end(), field) == known_fields_.end()) {
      return Error(what_ + ": unknown field " + field);
    }
  }
  return Status::Ok();
}

const json* JsonFields::Find(std::string_view field, bool required) {
  if (error_) return nullptr;
  const auto found = json_.find(field);
  if (found == json_.end()) {
    if (required) Refuse(what_ + ": field " + std::string(field) + " is missing");
    return nullptr;
  }
  known_fields_.push_back(field);
  return &*found;
}

const json* JsonFields::FindTyped(std::string_view field, bool required,
                                  bool (json::*is)() const noexcept, const char* expected) {
  const json* value = Find(field, required);
  if (value == nullptr || (value->*is)()) return value;
  Refuse(what_ + ": field " + std::string(field) + " is " + value->type_name() + ", expected " +
         expected);
  return nullptr;
}

}  // namespace schedq
