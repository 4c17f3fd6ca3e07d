#include "bench/program/commands/benchmark_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <system_error>

#include "bench/program/usage_error.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr const char* kPrefix = "--benchmark_";

bool ReadCount(const std::string& text, uint64_t& count) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  return error == std::errc() && stop == end && count > 0;
}

bool IsSeconds(const std::string& text) { return ParseFiniteNumber(text).value_or(0) > 0; }

// Like google-benchmark: the flag alone means true.
std::optional<bool> ReadSwitch(const std::string& text) {
  if (text.empty() || text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

Error Wrong(const std::string& name, const std::string& value, const char* expected) {
  return Error(fmt::format("{}={}: expected {}", name, value, expected));
}

// One flag: its full name, and what to do with its value.
struct FlagRule {
  const char* name;
  Status (*apply)(BenchmarkFlags& flags, const std::string& name, const std::string& value);
};

Status ApplyFilter(BenchmarkFlags& flags, const std::string& name, const std::string& value) {
  if (value.empty()) return Wrong(name, value, "a regular expression");
  flags.filter = value;
  return Status::Ok();
}

Status ApplyListTests(BenchmarkFlags& flags, const std::string& name, const std::string& value) {
  const std::optional<bool> wanted = ReadSwitch(value);
  if (!wanted) return Wrong(name, value, "true or false");
  flags.lists_tests = *wanted;
  return Status::Ok();
}

Status ApplyRepetitions(BenchmarkFlags& flags, const std::string& name, const std::string& value) {
  uint64_t rounds = 0;
  if (!ReadCount(value, rounds)) return Wrong(name, value, "a number of rounds from 1");
  flags.rounds = rounds;
  return Status::Ok();
}

Status ApplyInterleaving(BenchmarkFlags&, const std::string& name, const std::string& value) {
  if (ReadSwitch(value) == true) return Status::Ok();
  return Wrong(name, value, "true: rivals always run interleaved");
}

Status ApplyOut(BenchmarkFlags& flags, const std::string& name, const std::string& value) {
  if (value.empty()) return Wrong(name, value, "the name of a file");
  flags.out = value;
  return Status::Ok();
}

Status ApplyOutFormat(BenchmarkFlags&, const std::string& name, const std::string& value) {
  if (value == "json") return Status::Ok();
  return Wrong(name, value, "json");
}

Status ApplyMinTime(BenchmarkFlags& flags, const std::string& name, const std::string& value) {
  if (!IsSeconds(value)) return Wrong(name, value, "a number of seconds above 0");
  flags.has_min_time = true;
  flags.passed_on.push_back(name + "=" + value);
  return Status::Ok();
}

constexpr FlagRule kRules[] = {
    {"--benchmark_filter", ApplyFilter},
    {"--benchmark_list_tests", ApplyListTests},
    {"--benchmark_repetitions", ApplyRepetitions},
    {"--benchmark_enable_random_interleaving", ApplyInterleaving},
    {"--benchmark_min_time", ApplyMinTime},
    {"--benchmark_out", ApplyOut},
    {"--benchmark_out_format", ApplyOutFormat},
};

Error UnknownFlag(const std::string& name) {
  std::vector<std::string> names;
  for (const FlagRule& rule : kRules) names.push_back(rule.name);
  return Error(fmt::format("unknown flag '{}'; {}", name, ExpectedOneOf(name, names)));
}

Status ApplyOne(BenchmarkFlags& flags, const std::string& argument) {
  const size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  for (const FlagRule& rule : kRules) {
    if (name == rule.name) return rule.apply(flags, name, value);
  }
  return UnknownFlag(name);
}

}  // namespace

bool IsBenchmarkFlag(const std::string& argument) { return argument.rfind(kPrefix, 0) == 0; }

Result<BenchmarkFlags> ParseBenchmarkFlags(const std::vector<std::string>& arguments) {
  BenchmarkFlags flags;
  for (const std::string& argument : arguments) {
    const Status status = ApplyOne(flags, argument);
    if (!status.ok()) return status.error();
  }
  return flags;
}

}  // namespace schedq
