// Parses JSON that others wrote, strictly and within bounds.
//
// Purpose: the one place where a text becomes a JSON value. The nesting is judged before the parser
// runs, because values are copied, printed and destroyed by recursion. A repeated key is an error,
// because JSON libraries disagree on which value counts. The time grows hardly more than the text.
// When not to use it: for JSON that the program itself holds.
// Threads: any; pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace schedq {

inline constexpr size_t kJsonDepthMax = 100;

// Why a text is refused: one sentence without its place, such as "expected valid JSON".
struct JsonProblem {
  size_t byte = 0;  // Counts from 1; 0: the whole text.
  std::string what;
};

// The byte (from 1) at which the text opens more than kJsonDepthMax objects and arrays; 0: nowhere.
inline size_t JsonTooDeepAt(std::string_view text) {
  size_t depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_in_string && letter == '\\') {
      ++i;
    } else if (letter == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string && (letter == '{' || letter == '[')) {
      if (++depth > kJsonDepthMax) return i + 1;
    } else if (!is_in_string && (letter == '}' || letter == ']') && depth > 0) {
      --depth;
    }
  }
  return 0;
}

namespace json_text {

// Builds a value from what nlohmann's parser meets. Its own builder throws at a syntax error, and
// looks for each key of an ordered object among all that the object has.
template <typename Json>
class Builder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Take(Json(nullptr)); }
  bool boolean(bool value) override { return Take(Json(value)); }
  bool number_integer(typename Json::number_integer_t value) override { return Take(Json(value)); }
  bool number_unsigned(typename Json::number_unsigned_t value) override {
    return Take(Json(value));
  }
  bool number_float(typename Json::number_float_t value, const std::string&) override {
    return Take(Json(value));
  }
  bool string(std::string& value) override { return Take(Json(std::move(value))); }
  bool binary(typename Json::binary_t&) override { return false; }  // JSON text has none.

  bool start_object(size_t) override {
    open_.emplace_back().is_object = true;
    return true;
  }
  bool key(std::string& key) override {
    open_.back().key = std::move(key);
    return true;
  }
  bool end_object() override {
    std::vector<Member> members = std::move(open_.back().members);
    open_.pop_back();
    if (const auto key = FindRepeated(members)) {
      problem_ = {0, "expected every key once, got " + Json(*key).dump() + " twice"};
      return false;
    }
    return Take(Json(typename Json::object_t(std::make_move_iterator(members.begin()),
                                             std::make_move_iterator(members.end()))));
  }
  bool start_array(size_t) override {
    open_.emplace_back();
    return true;
  }
  bool end_array() override {
    typename Json::array_t elements = std::move(open_.back().elements);
    open_.pop_back();
    return Take(Json(std::move(elements)));
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    problem_ = error.id == kNumberOverflow
                   ? JsonProblem{0, "expected numbers within the range of a double"}
                   : JsonProblem{std::max<size_t>(position, 1), "expected valid JSON"};
    return false;
  }

  Json& value() { return value_; }
  JsonProblem& problem() { return problem_; }

 private:
  using Member = std::pair<std::string, Json>;

  // An object or an array whose end has not come.
  struct Level {
    bool is_object = false;
    std::string key;  // Of the member that comes next.
    std::vector<Member> members;
    typename Json::array_t elements;
  };

  bool Take(Json value) {
    if (open_.empty()) {
      value_ = std::move(value);
    } else if (Level& level = open_.back(); level.is_object) {
      level.members.emplace_back(std::move(level.key), std::move(value));
    } else {
      level.elements.push_back(std::move(value));
    }
    return true;
  }

  // A key that is there twice, if there is one.
  static std::optional<std::string_view> FindRepeated(const std::vector<Member>& members) {
    std::vector<std::string_view> keys;
    keys.reserve(members.size());
    for (const auto& [key, value] : members) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    const auto repeated = std::adjacent_find(keys.begin(), keys.end());
    if (repeated == keys.end()) return std::nullopt;
    return *repeated;
  }

  std::vector<Level> open_;
  Json value_;
  JsonProblem problem_;
};

}  // namespace json_text

template <typename Json>
std::variant<Json, JsonProblem> ParseJsonText(std::string_view text) {
  if (const size_t byte = JsonTooDeepAt(text); byte != 0) {
    return JsonProblem{
        byte, "nested deeper than " + std::to_string(kJsonDepthMax) + " levels, expected less"};
  }
  json_text::Builder<Json> builder;
  if (Json::sax_parse(text, &builder)) return std::move(builder.value());
  JsonProblem problem = std::move(builder.problem());
  if (problem.byte > 0) problem.byte = std::min(problem.byte, text.size() + 1);
  return problem;
}

}  // namespace schedq
