// A version as semver.org defines it: 1.2.3-rc.1+build.
//
// Purpose: version attributes of devices, and semver(...) of selectors. Build metadata has no part
// in the order of versions.
// Threads: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace schedq {

class SemanticVersion {
 public:
  // nullopt: no version, for example with a leading zero or without a patch number.
  static std::optional<SemanticVersion> Parse(std::string_view text);
  // Also takes "v1.2", "1" and "01.2.3": a v is dropped, so are leading zeros, and missing numbers
  // become 0.
  static std::optional<SemanticVersion> ParseTolerant(std::string_view text);

  // Negative, zero or positive as this version comes before the other, with it, or after it.
  int Compare(const SemanticVersion& other) const;

  uint64_t major() const { return major_; }
  uint64_t minor() const { return minor_; }
  uint64_t patch() const { return patch_; }
  // As it was written, after what ParseTolerant changed.
  const std::string& text() const { return text_; }

 private:
  SemanticVersion() = default;

  uint64_t major_ = 0;
  uint64_t minor_ = 0;
  uint64_t patch_ = 0;
  std::string prerelease_;  // "rc.1", empty for a release.
  std::string text_;
};

}  // namespace schedq
