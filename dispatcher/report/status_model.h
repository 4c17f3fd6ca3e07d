// The five models of KEP-5501: what of a PreEnqueue rejection a pod's owner gets to see, and when.
// Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/time.h"

namespace schedq {

enum class StatusModel : uint8_t {
  kExplicitImmediate,
  kExplicitDelayed,
  kImplicitDelayedOptOut,
  kImplicitDelayed,  // The KEP's choice, and the default.
  kImplicitImmediate,
};
inline constexpr std::array<StatusModel, 5> kStatusModels = {
    StatusModel::kExplicitImmediate, StatusModel::kExplicitDelayed,
    StatusModel::kImplicitDelayedOptOut, StatusModel::kImplicitDelayed,
    StatusModel::kImplicitImmediate};

std::string_view StatusModelName(StatusModel model);
std::optional<StatusModel> ParseStatusModel(std::string_view name);

// Patches wait for StatusReporterOptions::delay.
bool IsDelayed(StatusModel model);
// A plugin says apart from its internal message what the pod's owner reads.
bool IsExplicit(StatusModel model);
// A plugin may keep a rejection to itself.
bool HasOptOut(StatusModel model);

}  // namespace schedq
