// Absolute time as text: RFC 3339 in UTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/time/time.h"

namespace schedq {

// Parses "2026-01-01T00:00:00.3Z" with up to nine digits of a second; nullopt for other text.
std::optional<Instant> ParseTimestamp(std::string_view text);

// Writes the shortest fraction that is exact.
std::string FormatTimestamp(Instant instant);

}  // namespace schedq
