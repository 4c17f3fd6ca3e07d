// Parses JSON that others wrote, strictly and within bounds.
//
// Purpose: the one place where a text becomes a JSON value. The nesting is judged before the parser
// runs, because values are copied, printed and destroyed by recursion. A repeated key is an error,
// because JSON libraries disagree on which value counts.
// When not to use it: for JSON that the program itself holds.
// Threads: any; pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
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

// The parser's callback; it finds the first key that its object has twice.
template <typename Json>
class RepeatedKeys {
 public:
  bool operator()(int, typename Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = parsed.template get_ref<const std::string&>();
      if (!open_.back().insert(key).second && first_.empty()) first_ = parsed.dump();
    }
    return true;
  }
  // As JSON; empty when there is none.
  const std::string& first() const { return first_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string first_;
};

}  // namespace json_text

template <typename Json>
std::variant<Json, JsonProblem> ParseJsonText(std::string_view text) {
  if (const size_t byte = JsonTooDeepAt(text); byte != 0) {
    return JsonProblem{
        byte, "nested deeper than " + std::to_string(kJsonDepthMax) + " levels, expected less"};
  }
  json_text::RepeatedKeys<Json> keys;
  try {
    Json parsed = Json::parse(text, std::ref(keys));
    if (keys.first().empty()) return parsed;
    return JsonProblem{0, "expected every key once, got " + keys.first() + " twice"};
  } catch (const typename Json::parse_error& error) {
    return JsonProblem{std::min(std::max<size_t>(error.byte, 1), text.size() + 1),
                       "expected valid JSON"};
  } catch (const typename Json::exception&) {
    // The only other failure of the parser is a number beyond the range of a double.
    return JsonProblem{0, "expected numbers within the range of a double"};
  }
}

}  // namespace schedq
