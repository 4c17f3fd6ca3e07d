// Absolute time as text: RFC 3339 in UTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/time/time.h"

namespace schedq {

// "2026-01-01T00:00:00.3Z" with up to nine digits of a second; nullopt for anything else.
std::optional<Instant> ParseTimestamp(std::string_view text);

// The shortest fraction that says it exactly.
std::string FormatTimestamp(Instant instant);

}  // namespace schedq
