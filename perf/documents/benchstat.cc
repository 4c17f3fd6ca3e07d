#include "perf/documents/benchstat.h"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <string_view>

namespace schedq {
namespace {

std::string WithoutSpaces(std::string text) {
  for (char& letter : text) {
    if (std::isspace(static_cast<unsigned char>(letter)) != 0) letter = '_';
  }
  return text;
}

std::string MetricName(const DataItem& item) {
  constexpr std::string_view kSeconds = "_seconds";
  const auto label = item.labels.find("Metric");
  std::string name = label == item.labels.end() ? "unnamed" : label->second;
  const size_t place = name.find(kSeconds);
  if (place != std::string::npos) name.replace(place, kSeconds.size(), "_" + item.unit);
  return name;
}

// The labels beyond the metric and the workload's name, which tell items of one metric apart.
std::string Qualifier(const DataItem& item) {
  std::string text;
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

}  // namespace

std::string BenchstatHeader(const Machine& machine) {
  return fmt::format("goos: linux\ngoarch: {}\npkg: schedq\ncpu: {}\n",
                     GoArchitecture(machine.architecture), machine.cpu_model);
}

std::string BenchstatLine(const std::string& test_case, const std::string& workload, uint64_t procs,
                          std::span<const DataItem> items) {
  std::string line =
      WithoutSpaces(fmt::format("BenchmarkPerfScheduling/{}/{}-{}", test_case, workload, procs));
  line += " 1";
  for (const DataItem& item : items) {
    for (const auto& [bucket, value] : item.data) {
      line += fmt::format(" {} {}", value,
                          WithoutSpaces(MetricName(item) + Qualifier(item) + '/' + bucket));
    }
  }
  return line + '\n';
}

}  // namespace schedq
