// The five models of KEP-5501: what of a PreEnqueue rejection a pod's owner gets to see, and when.
// Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/plugin.h"
#include "engine/pod.h"

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
// A plugin gives the pod's owner a text of its own, besides its internal message.
bool IsExplicit(StatusModel model);
// A plugin may choose that a rejection is not shown.
bool HasOptOut(StatusModel model);

// The text that a plugin shows the pod's owner about a rejection, where the model lets the plugin
// choose; "" shows nothing.
using UserMessage =
    std::function<std::string(const Pod& pod, PluginId plugin, std::string_view message)>;

}  // namespace schedq
