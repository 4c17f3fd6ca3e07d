// Log lines on stderr, by level. A line whose level is off costs a load and a branch.
//
//   SCHEDQ_LOG(kInfo, "{} pods in {}", count, place);
//
// SetLogLevel sets the level; otherwise the environment variable SCHEDQ_LOG does (off, error,
// warning, info, debug), and without it the level is warning. Arguments are evaluated only when the
// line is written. kDebug stands for Kubernetes' V(5).
// When not to use it: for results, which go to stdout; and for what happens often even when the
// level is on, because a written line allocates and waits for stderr.
// Threads: any. A line is written whole, in one call, under a lock.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "engine/base/result.h"

namespace schedq {

enum class LogLevel : uint8_t { kOff, kError, kWarning, kInfo, kDebug };

namespace internal {

// Before a level is set, every line takes the slow path, which reads the environment once.
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
