// Instants as RFC3339 text in UTC.
#pragma once

#include <string>

#include "engine/base/time/time.h"

namespace schedq {

// "2026-03-01T12:00:00Z", with a fraction of up to nine digits only when there is one.
std::string Rfc3339(Instant instant);

}  // namespace schedq
