// Durations in Go's syntax: "1h2m3.5s", "300ms", "-1.5h", "0".
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/time/time.h"

namespace schedq {

// Returns nullopt where the text is no duration, or one too long for 64-bit nanoseconds.
std::optional<Duration> ParseGoDuration(std::string_view text);

}  // namespace schedq
