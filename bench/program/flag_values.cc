#include "bench/program/flag_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

#include "perf/text/number_text.h"

namespace schedq {
namespace {

std::optional<uint64_t> ParseWholeNumber(const std::string& text) {
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

CLI::Validator WholeNumber(uint64_t min, uint64_t max) {
  const auto judge = [min, max](std::string& text) -> std::string {
    const std::optional<uint64_t> number = ParseWholeNumber(text);
    if (number && *number >= min && *number <= max) return "";
    return fmt::format("'{}' is no whole number from {} to {}", text, min, max);
  };
  return {judge, ""};
}

CLI::Validator FiniteNumber(bool is_above_zero) {
  const auto judge = [is_above_zero](std::string& text) -> std::string {
    const std::optional<double> number = ParseFiniteNumber(text);
    if (number && (is_above_zero ? *number > 0 : *number >= 0)) return "";
    return fmt::format("'{}' is no number {} 0", text, is_above_zero ? "above" : "from");
  };
  return {judge, ""};
}

CLI::Validator SomeName() {
  const auto judge = [](std::string& text) -> std::string {
    return text.empty() ? "the name is empty, expected that of a file or folder" : "";
  };
  return {judge, ""};
}

CLI::Validator SomeText(const std::string& type) {
  const auto judge = [type](std::string& text) -> std::string {
    return text.empty() ? fmt::format("the value is empty, expected {}", type) : "";
  };
  return {judge, ""};
}

std::optional<std::string> FlagWithoutValue(int argument_count, const char* const* arguments) {
  for (int i = 1; i < argument_count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") break;
    const size_t equals = argument.find('=');
    if (argument.starts_with("--benchmark_")) continue;  // The command judges these itself.
    if (argument.starts_with("--") && equals + 1 == argument.size()) {
      return std::string(argument.substr(0, equals));
    }
  }
  return std::nullopt;
}

void AddSeedFlag(CLI::App* app, uint64_t* seed, const std::string& about) {
  app->add_option("--seed", *seed, about)
      ->capture_default_str()
      ->type_name("N")
      ->check(WholeNumber(0));
}

}  // namespace schedq
