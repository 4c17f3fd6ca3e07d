// Reads one JSON object strictly: a field that no read asked for is an error.
//
// The first error is kept. Reads after it return defaults, so that callers check once, by Finish.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

// Parses one line of a trace. An error says what was expected.
Result<nlohmann::json> ParseJsonLine(std::string_view line);

// The number as int64_t; nullopt where it is no integer of that range.
std::optional<int64_t> Int64Of(const nlohmann::json& value);

class JsonFields {
 public:
  // `what` names the object in messages, such as "pod". `json` must outlive this object.
  JsonFields(const nlohmann::json& json, std::string what);

  bool Has(std::string_view field) const;
  // True while there is no error.
  bool ok() const { return !error_; }

  // Required fields: absence is an error.
  std::string Text(std::string_view field);
  int64_t Integer(std::string_view field);
  const nlohmann::json& Array(std::string_view field);
  const nlohmann::json& Object(std::string_view field);

  // Optional fields: the value of `absent`, or an empty one, stands for an absent field.
  std::string TextOr(std::string_view field, std::string_view absent);
  int64_t IntegerOr(std::string_view field, int64_t absent, int64_t min, int64_t max);
  bool BoolOr(std::string_view field, bool absent);
  std::vector<std::string> TextsOr(std::string_view field);
  // Null when absent.
  const nlohmann::json* ObjectOr(std::string_view field);
  const nlohmann::json* AnyOr(std::string_view field);

  // Records an error that the caller found, unless there is one already.
  void Refuse(std::string message);

  // Returns the first error, or the error of an unknown field, or success.
  Status Finish();

 private:
  const nlohmann::json* Find(std::string_view field, bool required);
  const nlohmann::json* FindTyped(std::string_view field, bool required,
                                  bool (nlohmann::json::*is)() const noexcept,
                                  const char* expected);

  const nlohmann::json& json_;
  const std::string what_;
  std::vector<std::string_view> known_fields_;
  std::optional<Error> error_;
};

}  // namespace schedq
