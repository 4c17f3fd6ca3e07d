#include "engine/base/log.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>

#include "engine/base/atom.h"

namespace schedq {
namespace {

constexpr std::string_view kNames[] = {"off", "error", "warning", "info", "debug"};

std::optional<LogLevel> LevelNamed(std::string_view name) {
  for (size_t level = 0; level < std::size(kNames); ++level) {
    if (kNames[level] == name) return static_cast<LogLevel>(level);
  }
  return std::nullopt;
}

std::mutex& OutputMutex() {
  static std::mutex mutex;
  return mutex;
}

void WriteWhole(std::string_view line) {
  std::lock_guard lock(OutputMutex());
  while (!line.empty()) {
    const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // A failure to write to stderr cannot be reported.
    line.remove_prefix(static_cast<size_t>(written));
  }
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void SetLogLevel(LogLevel level) { StoreRelaxed(internal::log_level, static_cast<uint8_t>(level)); }

Status SetLogLevelFromEnvironment() {
  const char* const value = std::getenv("SCHEDQ_LOG");
  const std::optional<LogLevel> level = value == nullptr ? LogLevel::kWarning : LevelNamed(value);
  SetLogLevel(level.value_or(LogLevel::kWarning));
  if (level) return Status::Ok();
  return Error(fmt::format(
      "environment SCHEDQ_LOG is \"{}\", expected off, error, warning, info or debug", value));
}

bool internal::ResolveLogLevel(LogLevel level) {
  static const bool kIsResolved = [] {
    if (LoadRelaxed(log_level) != kLogLevelUnknown) return true;
    const Status status = SetLogLevelFromEnvironment();
    if (!status.ok()) WriteWhole(fmt::format("schedq: {}\n", status.error().message()));
    return true;
  }();
  return kIsResolved && static_cast<uint8_t>(level) <= LoadRelaxed(log_level);
}

void internal::WriteLog(LogLevel level, const char* file, int line, const std::string& text) {
  WriteWhole(fmt::format("schedq: {}: {} ({}:{})\n", kNames[static_cast<size_t>(level)], text,
                         FileName(file), line));
}

}  // namespace schedq
