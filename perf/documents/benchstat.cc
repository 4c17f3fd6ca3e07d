#include "perf/documents/benchstat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "perf/documents/data_items.h"
#include "perf/documents/environment.h"
#include "perf/statistics/comparison.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr std::string_view kBenchmark = "Benchmark";
constexpr std::string_view kBlanks = " \t\n\v\f\r";

std::string WithoutSpaces(std::string text) {
  for (char& letter : text) {
    if (std::isspace(static_cast<unsigned char>(letter)) != 0) letter = '_';
  }
  return text;
}

std::string LabelOf(const DataItem& item, const std::string& key) {
  const auto label = item.labels.find(key);
  return label == item.labels.end() ? "" : label->second;
}

std::string MetricName(const DataItem& item) {
  constexpr std::string_view kSeconds = "_seconds";
  std::string name = LabelOf(item, "Metric");
  if (name.empty()) name = "unnamed";
  const size_t place = name.find(kSeconds);
  if (place != std::string::npos) name.replace(place, kSeconds.size(), "_" + item.unit);
  return name;
}

// The labels beyond the metric and the workload's name, which tell items of one metric apart.
std::string Qualifier(const DataItem& item, const std::string& section) {
  std::string text = section.empty() ? "" : "section=" + section;
  for (const auto& [key, value] : item.labels) {
    if (key == "Metric" || key == "Name" || value == "not applicable") continue;
    text += (text.empty() ? "" : ",") + key + "=" + value;
  }
  return text.empty() ? "" : "{" + text + "}";
}

// Go's name of the architecture.
std::string_view GoArchitecture(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return machine;
}

std::string HeaderOf(const RunDocument& document) {
  const Machine& machine = document.environment.machine;
  std::string text = "goos: linux\n";
  if (document.clock == ClockKind::kReal) {
    text += fmt::format("goarch: {}\ncpu: {}\n", GoArchitecture(machine.architecture),
                        machine.cpu_model);
  }
  // Lines of another seed are of other work.
  return text + fmt::format("pkg: schedq\nseed: {}\n", document.seed);
}

// A value of a repetition, and its unit in full.
struct Column {
  std::string unit;
  double value;
  bool is_better_higher;
};

std::vector<Column> ColumnsOf(const Repetition& repetition) {
  std::vector<Column> columns;
  std::set<std::string> units;
  for (const DataItem& item : repetition.metrics) {
    const std::string place = LabelOf(item, "Name");
    for (const auto& [bucket, value] : item.data) {
      const auto unit = [&, &name_of_bucket = bucket](const std::string& section) {
        return WithoutSpaces(MetricName(item) + Qualifier(item, section) + '/' + name_of_bucket);
      };
      std::string name = unit("");
      if (!units.insert(name).second) name = unit(place.substr(place.rfind('/') + 1));
      units.insert(name);
      columns.push_back({name, value, MeasureKindOfUnit(item.unit) == MeasureKind::kRate});
    }
  }
  return columns;
}

// Takes the next word off the line; empty: there is none.
std::string_view TakeWord(std::string_view* line) {
  const size_t begin = std::min(line->find_first_not_of(kBlanks), line->size());
  const size_t end = std::min(line->find_first_of(kBlanks, begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

bool IsWholeNumber(std::string_view word) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

class BenchstatReader {
 public:
  // What is wrong with the line; nullopt: nothing.
  std::optional<std::string> ReadLine(std::string_view line) {
    if (line.starts_with(kBenchmark)) return ReadValues(line.substr(kBenchmark.size()));
    std::string_view rest = line;
    return TakeWord(&rest) == "Unit" ? ReadUnit(rest) : std::nullopt;
  }

  BenchstatFile Finish() { return std::move(file_); }

 private:
  std::optional<std::string> ReadValues(std::string_view rest) {
    const std::string name(TakeWord(&rest));
    const std::string_view count = TakeWord(&rest);
    if (count.empty()) return std::nullopt;
    if (!IsWholeNumber(count)) return "expected a number of iterations behind the name";
    size_t pairs = 0;
    for (std::string_view word = TakeWord(&rest); !word.empty(); word = TakeWord(&rest)) {
      const std::optional<double> value = ParseFiniteNumber(word);
      if (!value) return "expected a value, got \"" + std::string(word) + '"';
      const std::string_view unit = TakeWord(&rest);
      if (unit.empty()) return "expected a unit behind the last value";
      file_.values.push_back({name, std::string(unit), *value});
      ++pairs;
    }
    return pairs > 0 ? std::nullopt : std::optional<std::string>("expected a value and a unit");
  }

  std::optional<std::string> ReadUnit(std::string_view rest) {
    const std::string unit(TakeWord(&rest));
    if (unit.empty()) return "expected a unit behind Unit";
    for (std::string_view word = TakeWord(&rest); !word.empty(); word = TakeWord(&rest)) {
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos || equals == 0) return "expected key=value";
      const std::string key(word.substr(0, equals));
      const std::string value(word.substr(equals + 1));
      const auto [known, is_new] = said_.emplace(unit + ' ' + key, value);
      if (!is_new && known->second != value) {
        return fmt::format("{} of {} is {} already, expected no other", key, unit, known->second);
      }
      if (key == "better") file_.higher_is_better[unit] = value == "higher";
      if (key == "assume" && value == "exact") file_.exact.insert(unit);
    }
    return std::nullopt;
  }

  BenchstatFile file_;
  std::map<std::string, std::string> said_;  // By unit and key.
};

}  // namespace

std::string BenchstatText(const RunDocument& document) {
  const bool is_exact = document.clock == ClockKind::kVirtual;
  const std::string cores = is_exact ? "" : fmt::format("-{}", document.environment.machine.cores);
  std::string units;
  std::string lines;
  std::set<std::string> known;
  for (const WorkloadResult& result : document.workloads) {
    for (const Repetition& repetition : result.repetitions) {
      const std::vector<Column> columns = ColumnsOf(repetition);
      if (columns.empty()) continue;
      lines += WithoutSpaces(
          fmt::format("BenchmarkPerfScheduling/{}/{}{}", result.test_case, result.workload, cores));
      lines += " 1";
      for (const Column& column : columns) {
        lines += fmt::format(" {} {}", column.value, column.unit);
        if (!known.insert(column.unit).second) continue;
        units += fmt::format("Unit {} better={}{}\n", column.unit,
                             column.is_better_higher ? "higher" : "lower",
                             is_exact ? " assume=exact" : "");
      }
      lines += '\n';
    }
  }
  return HeaderOf(document) + units + lines;
}

bool IsBenchstat(std::string_view head) {
  for (const std::string_view start : {"Benchmark", "goos: ", "pkg: ", "Unit "}) {
    if (head.starts_with(start) || head.find('\n' + std::string(start)) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

Result<BenchstatFile> ParseBenchstat(std::string_view text, const std::string& name) {
  BenchstatReader reader;
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (const auto problem = reader.ReadLine(text.substr(0, end))) {
      return Error(fmt::format("{}:{}: {}", name, number, *problem));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  BenchstatFile file = reader.Finish();
  if (file.values.empty()) return Error(name + ": has no line of a benchmark with a value");
  return file;
}

}  // namespace schedq
