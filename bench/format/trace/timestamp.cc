#include "bench/format/trace/timestamp.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace schedq {
namespace {

namespace chrono = std::chrono;

// Reads exactly `digits` decimal digits at the front of `*text`.
std::optional<int> TakeDigits(std::string_view* text, size_t digits) {
  if (text->size() < digits) return std::nullopt;
  int number = 0;
  const char* end = text->data() + digits;
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  text->remove_prefix(digits);
  return number;
}

bool TakeCharacter(std::string_view* text, char expected) {
  if (text->empty() || text->front() != expected) return false;
  text->remove_prefix(1);
  return true;
}

// Reads a fraction such as ".3"; an absent fraction is 0.
std::optional<Duration> TakeFraction(std::string_view* text) {
  if (!TakeCharacter(text, '.')) return Duration::zero();
  int64_t nanoseconds = 0;
  int digits = 0;
  for (; !text->empty() && text->front() >= '0' && text->front() <= '9'; ++digits) {
    nanoseconds = nanoseconds * 10 + (text->front() - '0');
    text->remove_prefix(1);
    if (digits == 9) return std::nullopt;
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 9; ++digits) nanoseconds *= 10;
  return Duration(nanoseconds);
}

}  // namespace

std::optional<Instant> ParseTimestamp(std::string_view text) {
  const auto year = TakeDigits(&text, 4);
  if (!year || !TakeCharacter(&text, '-')) return std::nullopt;
  const auto month = TakeDigits(&text, 2);
  if (!month || !TakeCharacter(&text, '-')) return std::nullopt;
  const auto day = TakeDigits(&text, 2);
  if (!day || !TakeCharacter(&text, 'T')) return std::nullopt;
  const auto hour = TakeDigits(&text, 2);
  if (!hour || !TakeCharacter(&text, ':')) return std::nullopt;
  const auto minute = TakeDigits(&text, 2);
  if (!minute || !TakeCharacter(&text, ':')) return std::nullopt;
  const auto second = TakeDigits(&text, 2);
  if (!second) return std::nullopt;
  const auto fraction = TakeFraction(&text);
  if (!fraction || !TakeCharacter(&text, 'Z') || !text.empty()) return std::nullopt;

  const chrono::year_month_day date{chrono::year(*year), chrono::month(*month), chrono::day(*day)};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  // Instants are nanoseconds in 64 bits.
  if (*year < 1970 || *year > 2200) return std::nullopt;
  return Instant(chrono::sys_days(date).time_since_epoch() + chrono::hours(*hour) +
                 chrono::minutes(*minute) + chrono::seconds(*second) + *fraction);
}

std::string FormatTimestamp(Instant instant) {
  const auto day = chrono::floor<chrono::days>(instant);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss time(instant - day);
  std::string fraction = fmt::format(".{:09}", time.subseconds().count());
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (fraction == ".") fraction.clear();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count(),
                     fraction);
}

}  // namespace schedq
