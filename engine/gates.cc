#include "engine/gates.h"

#include <string>

#include "engine/base/metrics/metrics.h"

namespace schedq {
namespace {

constexpr std::array<std::string_view, kGateCount> kNames = {
    "SchedulerPopFromBackoffQ",
    "SchedulerPreQueueingHints",
    "SchedulerPreEnqueuePodStatus",
    "SchedulerAsyncAPICalls",
    "NominatedNodeNameForExpectation",
    "ClearingNominatedNodeNameAfterBinding",
    "GenericWorkload",
    "CompositePodGroup",
    "TopologyAwareWorkloadScheduling",
    "NodeDeclaredFeatures",
    "OpportunisticBatching",
    "SchedulerAsyncPreemption",
};

// As the proposals say: each of them begins in beta, or has reached it.
constexpr std::array<std::string_view, kGateCount> kStages = {
    "BETA", "BETA", "BETA", "BETA", "BETA", "BETA", "BETA", "ALPHA", "ALPHA", "GA", "BETA", "BETA"};

constexpr bool IsOnByDefault(Gate gate) {
  return !IsGateOfGroups(gate) && gate != Gate::kTopologyAwareWorkloadScheduling;
}

struct Prerequisite {
  Gate gate;
  Gate needs;
};
constexpr Prerequisite kPrerequisites[] = {
    {Gate::kSchedulerPreEnqueuePodStatus, Gate::kSchedulerAsyncAPICalls},
    {Gate::kCompositePodGroup, Gate::kGenericWorkload},
    {Gate::kTopologyAwareWorkloadScheduling, Gate::kGenericWorkload},
};

}  // namespace

std::string_view GateName(Gate gate) { return kNames[static_cast<int>(gate)]; }

std::optional<Gate> ParseGate(std::string_view name) {
  for (int i = 0; i < kGateCount; ++i) {
    if (kNames[i] == name) return static_cast<Gate>(i);
  }
  return std::nullopt;
}

Gates::Gates() {
  for (int i = 0; i < kGateCount; ++i) on_[i] = IsOnByDefault(static_cast<Gate>(i));
}

Result<Gates> Gates::Resolve(const GateRequest& request) {
  Gates gates;
  for (int i = 0; i < kGateCount; ++i) {
    gates.on_[i] = request.Get(static_cast<Gate>(i)).value_or(gates.on_[i]);
  }
  for (const auto& [gate, needs] : kPrerequisites) {
    if (gates.On(needs) || !gates.On(gate)) continue;
    if (request.Get(gate).has_value()) {
      return Error("feature gates: " + std::string(GateName(gate)) + "=true needs " +
                   std::string(GateName(needs)) + "=true, but it is false");
    }
    gates.on_[static_cast<int>(gate)] = false;
  }
  return gates;
}

void ExposeGates(const Gates& gates, MetricsRegistry* metrics) {
  GaugeFamily& enabled = metrics->Gauges({.name = "kubernetes_feature_enabled",
                                          .help = "Whether a feature gate is on.",
                                          .labels = {"name", "stage"}});
  for (int i = 0; i < kGateCount; ++i) {
    enabled.At({std::string(kNames[i]), std::string(kStages[i])})
        .Set(gates.On(static_cast<Gate>(i)) ? 1 : 0);
  }
}

}  // namespace schedq
