#include "bench/format/cel/semantic_version.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace schedq {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool HasLeadingZero(std::string_view text) { return text.size() > 1 && text[0] == '0'; }

// A number without leading zeros that fits 64 bits.
std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  if (!IsNumber(text) || HasLeadingZero(text)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-';
  });
}

// Takes the text up to the separator, or all of it.
std::string_view TakePart(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

bool ArePrereleaseParts(std::string_view text) {
  for (;;) {
    const size_t end = text.find('.');
    const std::string_view part = text.substr(0, end);
    if (!IsIdentifier(part) || (IsNumber(part) && !ParseNumber(part))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

bool AreBuildParts(std::string_view text) {
  for (;;) {
    const size_t end = text.find('.');
    if (!IsIdentifier(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

int CompareNumbers(uint64_t left, uint64_t right) {
  return left < right ? -1 : (left > right ? 1 : 0);
}

int ComparePrereleaseParts(std::string_view left, std::string_view right) {
  const auto left_number = ParseNumber(left);
  const auto right_number = ParseNumber(right);
  if (left_number && right_number) return CompareNumbers(*left_number, *right_number);
  if (left_number.has_value() != right_number.has_value()) return left_number ? -1 : 1;
  const int order = left.compare(right);
  return order < 0 ? -1 : (order > 0 ? 1 : 0);
}

}  // namespace

std::optional<SemanticVersion> SemanticVersion::Parse(std::string_view text) {
  SemanticVersion version;
  version.text_ = text;
  const size_t first = text.find('.');
  const size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto major = ParseNumber(text.substr(0, first));
  const auto minor = ParseNumber(text.substr(first + 1, second - first - 1));
  std::string_view rest = text.substr(second + 1);
  const size_t plus = rest.find('+');
  if (plus != std::string_view::npos) {
    if (!AreBuildParts(rest.substr(plus + 1))) return std::nullopt;
    rest = rest.substr(0, plus);
  }
  const size_t dash = rest.find('-');
  if (dash != std::string_view::npos) {
    version.prerelease_ = rest.substr(dash + 1);
    if (!ArePrereleaseParts(version.prerelease_)) return std::nullopt;
    rest = rest.substr(0, dash);
  }
  const auto patch = ParseNumber(rest);
  if (!major || !minor || !patch) return std::nullopt;
  version.major_ = *major;
  version.minor_ = *minor;
  version.patch_ = *patch;
  return version;
}

std::optional<SemanticVersion> SemanticVersion::ParseTolerant(std::string_view text) {
  if (!text.empty() && text[0] == 'v') text.remove_prefix(1);
  std::array<std::string, 3> parts;
  size_t count = 0;
  for (bool more = true; more && count < parts.size(); ++count) {
    const bool last = count + 1 == parts.size();
    more = text.find('.') != std::string_view::npos;
    std::string_view part = last ? text : TakePart(text, '.');
    if (part.size() > 1) {
      part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
      const bool starts = !part.empty() && kDigits.find(part[0]) != std::string_view::npos;
      if (!starts) parts[count] = "0";
    }
    parts[count] += part;
  }
  if (count < parts.size()) {
    if (parts[count - 1].find_first_of("+-") != std::string::npos) return std::nullopt;
    for (; count < parts.size(); ++count) parts[count] = "0";
  }
  return Parse(parts[0] + "." + parts[1] + "." + parts[2]);
}

int SemanticVersion::Compare(const SemanticVersion& other) const {
  if (major_ != other.major_) return CompareNumbers(major_, other.major_);
  if (minor_ != other.minor_) return CompareNumbers(minor_, other.minor_);
  if (patch_ != other.patch_) return CompareNumbers(patch_, other.patch_);
  // A release comes after its prereleases.
  if (prerelease_.empty() || other.prerelease_.empty()) {
    return CompareNumbers(prerelease_.empty() ? 1 : 0, other.prerelease_.empty() ? 1 : 0);
  }
  std::string_view left = prerelease_;
  std::string_view right = other.prerelease_;
  while (!left.empty() && !right.empty()) {
    const int order = ComparePrereleaseParts(TakePart(left, '.'), TakePart(right, '.'));
    if (order != 0) return order;
  }
  // Of equal beginnings the longer one comes after.
  return CompareNumbers(left.empty() ? 0 : 1, right.empty() ? 0 : 1);
}

}  // namespace schedq
