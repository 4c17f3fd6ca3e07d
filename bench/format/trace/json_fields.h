// Strict reading of one JSON object: every field is asked for once, and what nobody asked for is an
// error. The first error is kept; later reads give defaults, so that callers check once at the end.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace schedq {

class JsonFields {
 public:
  // `what` names the object in messages, e.g. "pod". `json` must outlive this.
  JsonFields(const nlohmann::json& json, std::string what);

  bool Has(std::string_view field) const;
  // Nothing was refused so far.
  bool ok() const { return !error_; }

  // Required; absent is an error.
  std::string Text(std::string_view field);
  int64_t Integer(std::string_view field);
  const nlohmann::json& Array(std::string_view field);
  const nlohmann::json& Object(std::string_view field);

  // Optional.
  std::string TextOr(std::string_view field, std::string_view absent);
  int64_t IntegerOr(std::string_view field, int64_t absent, int64_t min, int64_t max);
  bool BoolOr(std::string_view field, bool absent);
  std::vector<std::string> TextsOr(std::string_view field);
  // Null when absent.
  const nlohmann::json* ObjectOr(std::string_view field);
  const nlohmann::json* AnyOr(std::string_view field);

  // Records an error of the caller's own, unless there is one already.
  void Refuse(std::string message);

  // The first error; or an unknown field; or success.
  Status Finish();

 private:
  const nlohmann::json* Take(std::string_view field, bool required);
  const nlohmann::json* TakeOf(std::string_view field, bool required,
                               bool (nlohmann::json::*is)() const noexcept, const char* expected);

  const nlohmann::json& json_;
  const std::string what_;
  std::vector<std::string_view> taken_;
  std::optional<Error> error_;
};

}  // namespace schedq
