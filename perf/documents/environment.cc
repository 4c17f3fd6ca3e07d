#include "perf/documents/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/base/result.h"
#include "perf/files/file_io.h"
#include "perf/text/rfc3339.h"

namespace schedq {
namespace {

// The value of the first line "key<spaces>: value" of a /proc file; empty when there is none.
std::string ValueOf(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string_view::npos) continue;
    const std::string_view gap = line.substr(key.size(), colon - key.size());
    if (gap.find_first_not_of(" \t") != std::string_view::npos) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string_view::npos ? "" : std::string(line.substr(begin));
  }
  return "";
}

std::string ContentOrEmpty(const std::string& path) {
  Result<std::string> content = ReadWholeFile(path);
  return content.ok() ? std::move(*content) : "";
}

uint64_t UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 0;
  return static_cast<uint64_t>(CPU_COUNT(&cores));
}

uint64_t MemoryBytes(const std::string& meminfo) {
  const std::string text = ValueOf(meminfo, "MemTotal");
  uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace

Machine ReadMachine(const std::string& root) {
  const std::string cpu_info = ContentOrEmpty(root + "/proc/cpuinfo");
  Machine machine;
  machine.cpu_model = ValueOf(cpu_info, "model name");
  if (machine.cpu_model.empty()) machine.cpu_model = "unknown";
  const std::string flags = " " + ValueOf(cpu_info, "flags") + " ";
  machine.virtual_machine = flags.find(" hypervisor ") != std::string::npos;
  machine.cores = UsableCores();
  machine.memory_bytes = MemoryBytes(ContentOrEmpty(root + "/proc/meminfo"));
  machine.governor = ContentOrEmpty(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  machine.governor.erase(machine.governor.find_last_not_of(" \n") + 1);
  utsname name{};
  if (uname(&name) == 0) {
    machine.architecture = name.machine;
    machine.kernel = fmt::format("{} {}", name.sysname, name.release);
  }
  return machine;
}

EnvironmentRecorder::EnvironmentRecorder(std::string command)
    : started_at_(std::chrono::steady_clock::now()) {
  environment_.machine = ReadMachine();
  environment_.build = ReadBuild();
  environment_.command = std::move(command);
  environment_.started = Rfc3339(std::chrono::system_clock::now());
}

Environment EnvironmentRecorder::Finish() const {
  Environment environment = environment_;
  environment.finished = Rfc3339(std::chrono::system_clock::now());
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started_at_;
  environment.wall_seconds = wall.count();
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    environment.resident_bytes_max = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  }
  return environment;
}

}  // namespace schedq
