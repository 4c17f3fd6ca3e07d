// Feature gates under their upstream names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/result.h"

namespace schedq {

class MetricsRegistry;

enum class Gate : uint8_t {
  kSchedulerPopFromBackoffQ,
  kSchedulerPreQueueingHints,
  kSchedulerPreEnqueuePodStatus,  // Needs kSchedulerAsyncAPICalls.
  kSchedulerAsyncAPICalls,
  kNominatedNodeNameForExpectation,
  kClearingNominatedNodeNameAfterBinding,
  kGenericWorkload,    // Pod groups. Off by default.
  kCompositePodGroup,  // Trees of groups; needs kGenericWorkload. Off by default.
  // The gates of a scheduler that places pods (IsGateOfPlacing).
  // Groups go where their topology constraints allow; needs kGenericWorkload. Off by default.
  kTopologyAwareWorkloadScheduling,
  kNodeDeclaredFeatures,
  kOpportunisticBatching,
  // Victims are deleted in the background, while the pod for which they go is gated.
  kSchedulerAsyncPreemption,
};
inline constexpr int kGateCount = 12;

std::string_view GateName(Gate gate);
// Whether the gate says what is known of groups of pods.
constexpr bool IsGateOfGroups(Gate gate) {
  return gate == Gate::kGenericWorkload || gate == Gate::kCompositePodGroup;
}
// Whether the gate is one of a scheduler that places pods: it changes nothing in the queue.
constexpr bool IsGateOfPlacing(Gate gate) {
  return gate == Gate::kTopologyAwareWorkloadScheduling || gate == Gate::kNodeDeclaredFeatures ||
         gate == Gate::kOpportunisticBatching || gate == Gate::kSchedulerAsyncPreemption;
}
// nullopt: schedq does not model a gate of this name.
std::optional<Gate> ParseGate(std::string_view name);

// The gates as asked for: each is on, off, or left at its default.
class GateRequest {
 public:
  void Set(Gate gate, bool on) { wanted_[static_cast<int>(gate)] = on; }
  std::optional<bool> Get(Gate gate) const { return wanted_[static_cast<int>(gate)]; }

 private:
  std::array<std::optional<bool>, kGateCount> wanted_{};
};

// The gates in force. A gate left at its default follows its prerequisite.
class Gates {
 public:
  // The defaults.
  Gates();
  // An error when a gate is asked to be on and its prerequisite to be off.
  static Result<Gates> Resolve(const GateRequest& request);

  bool On(Gate gate) const { return on_[static_cast<int>(gate)]; }
  bool PopFromBackoffQ() const { return On(Gate::kSchedulerPopFromBackoffQ); }
  bool PreQueueingHints() const { return On(Gate::kSchedulerPreQueueingHints); }
  bool GenericWorkload() const { return On(Gate::kGenericWorkload); }
  bool CompositePodGroup() const { return On(Gate::kCompositePodGroup); }

 private:
  std::array<bool, kGateCount> on_;
};

// Exposes kubernetes_feature_enabled{name,stage} as the gates are.
void ExposeGates(const Gates& gates, MetricsRegistry* metrics);

}  // namespace schedq
