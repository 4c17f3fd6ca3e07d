// A CEL expression that chooses devices, as device classes and claims have them.
//
// Purpose: parsed and type-checked once, then evaluated for many devices. What expressions may say
// is in docs/formats.md.
// Threads: immutable after Parse, so any thread may evaluate it.
// Memory: an evaluation of an ordinary selector allocates nothing; one that builds lists or strings
// uses blocks that it frees at its end, within kSelectorMemoryBytesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/format/cel/device_view.h"
#include "engine/base/result.h"

namespace schedq {

class SelectorProgram;

// The API server's bounds on a selector: the length of its text and the cost of one evaluation.
inline constexpr size_t kSelectorBytesMax = 10 * 1024;
inline constexpr uint64_t kSelectorCostMax = 1'000'000;
inline constexpr size_t kSelectorMemoryBytesMax = 4 << 20;

enum class SelectorResult : uint8_t { kNoMatch, kMatch, kError };

class DeviceSelector {
 public:
  // An error says line and column of the expression: "1:8: undefined field 'drivr'".
  static Result<DeviceSelector> Parse(std::string_view expression);

  // Whether the device matches. For kError, `*error` says why unless `error` is nullptr.
  SelectorResult Evaluate(const DeviceView& device, std::string* error = nullptr) const;

  // The driver whose devices alone can match: for every device of another driver, Evaluate gives
  // kNoMatch. nullopt: the expression does not say it plainly.
  std::optional<std::string_view> RequiredDriver() const;

  const std::string& expression() const;

 private:
  explicit DeviceSelector(std::shared_ptr<const SelectorProgram> program)
      : program_(std::move(program)) {}

  std::shared_ptr<const SelectorProgram> program_;
};

}  // namespace schedq
