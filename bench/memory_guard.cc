#include "bench/memory_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "perf/text/number_text.h"

// jemalloc's control call; null unless jemalloc is linked or preloaded.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value, size_t* old_size,
                                             void* new_value, size_t new_size);

namespace schedq {
namespace {

constexpr double kShareOfFree = 0.9;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

std::optional<uint64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  // A group without a limit says "max".
  if (!(file >> number)) return std::nullopt;
  return number;
}

// The number behind a name at the start of a line; 0 where there is none.
uint64_t NumberNamed(const std::string& name, const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    uint64_t number = 0;
    if (words >> word && word == name && words >> number) return number;
  }
  return 0;
}

// What one control group leaves. Cached files that nobody uses make room.
uint64_t FreeIn(const std::string& folder, const char* limit, const char* usage,
                const char* cached) {
  const std::optional<uint64_t> bytes_max = ReadNumber(folder + limit);
  const std::optional<uint64_t> used = ReadNumber(folder + usage);
  if (!bytes_max || !used) return kUnlimited;
  const uint64_t reclaimed = std::min(*used, NumberNamed(cached, folder + "/memory.stat"));
  const uint64_t taken = *used - reclaimed;
  return *bytes_max > taken ? *bytes_max - taken : 0;
}

// The least that a group and those around it leave. In a container the group's own path may not be
// visible; the root of what is visible then is the container's group.
uint64_t FreeInGroups(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  uint64_t free = kUnlimited;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_unified = controllers.empty();
    if (!is_unified && ("," + controllers + ",").find(",memory,") == std::string::npos) continue;
    const std::string mount = root + "/sys/fs/cgroup" + (is_unified ? "" : "/memory");
    std::string group = line.substr(second + 1);
    for (;;) {
      if (group == "/") group.clear();
      free = std::min(free, is_unified ? FreeIn(mount + group, "/memory.max", "/memory.current",
                                                "inactive_file")
                                       : FreeIn(mount + group, "/memory.limit_in_bytes",
                                                "/memory.usage_in_bytes", "total_inactive_file"));
      if (group.empty()) break;
      group.resize(group.find_last_of('/'));
    }
  }
  return free;
}

// Asks the allocator for what was freed.
void GiveBack() {
  if (mallctl != nullptr) {
    // 4096 is jemalloc's number for all arenas together.
    mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);
  } else {
    malloc_trim(0);
  }
}

}  // namespace

uint64_t FreeMemoryBytes(const std::string& root) {
  constexpr uint64_t kKibibyte = 1024;
  const uint64_t available = NumberNamed("MemAvailable:", root + "/proc/meminfo") * kKibibyte;
  return std::min(available == 0 ? kUnlimited : available, FreeInGroups(root));
}

Result<uint64_t> ParseBytes(const std::string& text) {
  const auto refuse = [&text] {
    return Error(fmt::format("'{}': expected a size above 0, such as 512M or 2G", text));
  };
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number == 0) return refuse();
  std::string_view unit(stop, static_cast<size_t>(end - stop));
  if (unit.empty()) return number;
  constexpr std::string_view kUnits = "KMGT";
  const size_t power = kUnits.find(unit[0]);
  unit.remove_prefix(1);
  if (power == std::string_view::npos || !(unit.empty() || unit == "iB" || unit == "B")) {
    return refuse();
  }
  const auto shift = static_cast<unsigned>(10 * (power + 1));
  if (number > (kUnlimited >> shift)) return refuse();
  return number << shift;
}

MemoryGuard::MemoryGuard(uint64_t bytes_max)
    : statistics_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)), bytes_max_(bytes_max) {
  if (bytes_max_ != 0) return;
  const uint64_t free = FreeMemoryBytes();
  bytes_max_ = free == kUnlimited
                   ? kUnlimited
                   : BytesInUse() + static_cast<uint64_t>(static_cast<double>(free) * kShareOfFree);
}

MemoryGuard::~MemoryGuard() {
  if (statistics_ >= 0) close(statistics_);
}

bool MemoryGuard::IsExceeded() {
  if (used_ != 0) return true;
  if (BytesInUse() <= bytes_max_) return false;
  GiveBack();
  const uint64_t used = BytesInUse();
  if (used > bytes_max_) used_ = used;
  return used_ != 0;
}

std::string MemoryGuard::Reason() const {
  return fmt::format("memory: {} in use, beyond the limit of {} (--memory)",
                     BytesText(static_cast<double>(used_)),
                     BytesText(static_cast<double>(bytes_max_)));
}

// The second number of statm counts the pages that are resident.
uint64_t MemoryGuard::BytesInUse() const {
  std::array<char, 128> text;
  const ssize_t size = statistics_ < 0 ? -1 : pread(statistics_, text.data(), text.size(), 0);
  if (size <= 0) return 0;
  const std::string_view line(text.data(), static_cast<size_t>(size));
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  uint64_t pages = 0;
  std::from_chars(line.data() + blank + 1, line.data() + line.size(), pages);
  static const auto kPageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return pages * kPageBytes;
}

}  // namespace schedq
