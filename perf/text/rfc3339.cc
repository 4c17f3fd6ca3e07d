#include "perf/text/rfc3339.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace schedq {

std::string Rfc3339(Instant instant) {
  const Instant second = TruncateToSecond(instant);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(second.time_since_epoch());
  std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(seconds.count()));
  if (instant != second) {
    text += fmt::format(".{:09}", (instant - second).count());
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + 'Z';
}

}  // namespace schedq
