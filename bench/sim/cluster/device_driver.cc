#include "bench/sim/cluster/device_driver.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "engine/base/time/clock.h"
#include "engine/event.h"
#include "engine/pod.h"

namespace schedq {

DeviceDriver::DeviceDriver(Cluster* cluster, std::function<Duration()> call_latency)
    : cluster_(*cluster), call_latency_(std::move(call_latency)) {
  cluster_.Watch([this](const ClusterChange& change) { OnChange(change); });
}

void DeviceDriver::OnChange(const ClusterChange& change) {
  if (change.resource != Resource::kResourceClaim || change.is_namespace || change.is_taint_rule ||
      change.objects.after == nullptr) {
    return;
  }
  const auto& after = static_cast<const ClusterClaim&>(*change.objects.after);
  const auto* before = static_cast<const ClusterClaim*>(change.objects.before.get());
  if (after.allocation == nullptr) return;
  if (before != nullptr && before->allocation == after.allocation) return;
  for (const AllocatedDevice& device : after.allocation->devices) {
    if (device.binding_conditions.empty()) continue;
    Prepare(QualifiedName(after.namespace_name, after.name), after.allocation, device);
  }
}

const DriverBehaviour* DeviceDriver::BehaviourOf(const DeviceName& device) const {
  for (const auto& [name, slice] : cluster_.slices()) {
    const ResourceSliceObject& object = *slice->slice;
    const std::string pool = object.driver + '/' + object.pool + '/';
    if (!device.starts_with(pool)) continue;
    const bool lists =
        std::any_of(object.devices.begin(), object.devices.end(), [&](const SliceDevice& each) {
          return device.compare(pool.size(), std::string::npos, each.name) == 0;
        });
    if (lists) return &object.behaviour;
  }
  return nullptr;
}

void DeviceDriver::Prepare(const std::string& claim, const DeviceAllocationRef& allocation,
                           const AllocatedDevice& device) {
  const DriverBehaviour* const behaviour = BehaviourOf(device.device);
  if (behaviour == nullptr || !behaviour->binding_delay) return;
  DeviceStatus status{device.device, device.binding_conditions};
  const auto& failures = device.binding_failure_conditions;
  if (!failures.empty() && failures_[device.device] < behaviour->binding_failures) {
    ++failures_[device.device];
    status.conditions = {failures.front()};
  }
  Clock& clock = cluster_.clock();
  clock.At(
      clock.Now() + *behaviour->binding_delay + call_latency_(),
      [this, claim, allocation, status = std::move(status)] { Tell(claim, allocation, status); });
}

void DeviceDriver::Tell(const std::string& claim, const DeviceAllocationRef& allocation,
                        DeviceStatus status) {
  const ClusterClaimRef stored = cluster_.FindClaim(claim);
  if (stored == nullptr || stored->allocation != allocation) return;
  cluster_.UpdateClaim(
      claim, [&](ClusterClaim* after) { after->device_statuses.push_back(std::move(status)); });
}

}  // namespace schedq
