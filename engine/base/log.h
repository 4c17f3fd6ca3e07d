// Leveled lines on stderr that cost a load and a branch when they are off.
//
//   SCHEDQ_LOG(kInfo, "{} pods in {}", count, place);
//
// The environment's SCHEDQ_LOG (off, error, warning, info, debug) sets the level, warning without
// it, unless SetLogLevel did. Arguments are evaluated only when the line is written.
// When not to use it: for results, which go to stdout, and on hot paths even when on: a written
// line allocates, and blocks on stderr. Threads: any. A line is written whole, in one call, under a
// lock.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "engine/base/result.h"

namespace schedq {

enum class LogLevel : uint8_t { kOff, kError, kWarning, kInfo, kDebug };

namespace internal {

// Before anybody set a level every line is let through to the slow path, which looks at the
// environment once.
inline constexpr uint8_t kLogLevelUnknown = 255;
// Written by SetLogLevel and the first line; a stale reader writes or drops a line too many.
inline constinit std::atomic<uint8_t> log_level{kLogLevelUnknown};

bool ResolveLogLevel(LogLevel level);
void WriteLog(LogLevel level, const char* file, int line, const std::string& text);

}  // namespace internal

// Relaxed: a level orders nothing.
inline bool LogEnabled(LogLevel level) {
  const uint8_t current = internal::log_level.load(std::memory_order_relaxed);
  if (static_cast<uint8_t>(level) > current) [[likely]]
    return false;
  return current != internal::kLogLevelUnknown || internal::ResolveLogLevel(level);
}

void SetLogLevel(LogLevel level);
// Applies the environment's level now; an error names the value and what was expected. Programs
// call it at their start so that a wrong value is an error of usage and not a surprise later.
Status SetLogLevelFromEnvironment();

}  // namespace schedq

#define SCHEDQ_LOG(level, ...)                                                    \
  do {                                                                            \
    if (::schedq::LogEnabled(::schedq::LogLevel::level)) {                        \
      ::schedq::internal::WriteLog(::schedq::LogLevel::level, __FILE__, __LINE__, \
                                   ::fmt::format(__VA_ARGS__));                   \
    }                                                                             \
  } while (false)
