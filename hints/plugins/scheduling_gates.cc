// SchedulingGates: a pod waits until its last scheduling gate is gone.
#include <string>
#include <string_view>

#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"

namespace schedq {
namespace {

// The API server puts this very text on a gated pod's condition; equal texts cost no API call.
constexpr char kMessage[] = "Scheduling is blocked due to non-empty scheduling gates";

bool HasNoGates(const Pod& pod, std::string* message) {
  if (pod.scheduling_gates.empty()) return true;
  if (message != nullptr) *message = kMessage;
  return false;
}

}  // namespace

Plugin SchedulingGatesPlugin() {
  Plugin plugin;
  plugin.name = "SchedulingGates";
  plugin.rejection_message = kMessage;
  plugin.pre_enqueue = HasNoGates;
  // The API server has said it already.
  plugin.user_message = [](const Pod&, std::string_view) { return std::string(); };
  // The event means that the last gate went, so there is nothing left to look at.
  plugin.events = {{Resource::kTargetPod, Action::kUpdatePodSchedulingGatesEliminated, {}, {}}};
  return plugin;
}

}  // namespace schedq
