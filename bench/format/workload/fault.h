// What goes wrong in a run on request: the operation injectFault of a workload, and `--fault`.
//
// A file and the command line name the same fields, and one function checks both.
// Threads: pure values and functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"

namespace schedq {

// The calls of the scheduler to the API server that can fail. Its events are never heard of again,
// so that nothing shows whether one failed.
enum class CallKind : uint8_t { kBind, kPatch, kDelete, kClaim, kVolume, kGroup };
inline constexpr std::array<std::string_view, 6> kCallKindNames = {"bind",  "patch",  "delete",
                                                                   "claim", "volume", "group"};

enum class FaultKind : uint8_t {
  kErrors,       // The API server answers a share of the scheduler's calls with an error.
  kLag,          // Changes of one kind of object reach all watchers later.
  kControllers,  // Each call of the controllers takes longer.
};
inline constexpr std::array<std::string_view, 3> kFaultKindNames = {"errors", "lag", "controllers"};

struct Fault {
  FaultKind kind = FaultKind::kErrors;
  Duration after{};     // From the run's start, or from the operation, to its begin.
  Duration duration{};  // 0: until the end of the run.
  // Errors.
  int64_t percent = 100;
  uint32_t calls = 0;  // Bits by CallKind; 0: all.
  // Lag, and controllers.
  Resource of = Resource::kWildcard;  // Whose changes lag.
  Duration delay{};
  Duration
      jitter{};  // Each change draws up to this much more. One kind's changes keep their order.

  bool Hits(CallKind call) const {
    return calls == 0 || (calls >> static_cast<uint32_t>(call)) & 1u;
  }
};

std::optional<FaultKind> ParseFaultKind(std::string_view name);
// A bit of Fault::calls.
std::optional<uint32_t> ParseCallKind(std::string_view name);
// The kinds whose changes can lag: those that informers deliver.
std::optional<Resource> ParseLaggingKind(std::string_view name);
std::string LaggingKindNames();

// An error names the field and what was expected.
Status CheckFault(const Fault& fault);
// The value of `--fault`: "errors,percent=20,calls=bind+patch,after=2s,duration=10s".
Result<Fault> ParseFault(const std::string& text);

}  // namespace schedq
