#include "bench/sim/run/pod_volumes_maker.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <variant>

#include "bench/format/objects/object_template.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/cluster/storage.h"
#include "engine/pod.h"
#include "engine/pod_volumes.h"

namespace schedq {
namespace {

enum Step : size_t { kCreateClaim, kClaimStatus, kCreateVolume, kVolumeStatus, kSteps };
static_assert(kSteps == PodVolumesMaker::kCalls, "each step is a call");

std::string ClaimName(int64_t index) { return fmt::format("pvc-{}", index); }

}  // namespace

Result<std::optional<PodVolumesMaker>> PodVolumesMaker::For(const CreatePodsOp& op) {
  std::optional<PodVolumesMaker> maker;
  if (op.persistent_volume_claim == nullptr) return maker;
  maker = PodVolumesMaker();
  maker->namespace_name_ = op.namespace_name;
  const auto render = [](const ObjectTemplateRef& object, ApiObjectRef* out) -> Status {
    Result<ApiObjectRef> rendered = ObjectRenderer({object, {}}, 1).Render(0);
    if (!rendered) return rendered.error();
    *out = std::move(*rendered);
    return Status::Ok();
  };
  if (const Status status = render(op.persistent_volume, &maker->volume_); !status.ok()) {
    return status.error();
  }
  if (const Status status = render(op.persistent_volume_claim, &maker->claim_); !status.ok()) {
    return status.error();
  }
  return maker;
}

std::vector<CallLatency> PodVolumesMaker::Latencies(const CostModel& costs) {
  return {costs.create, costs.status, costs.create, costs.status};
}

std::string PodVolumesMaker::VolumeName(int64_t index) const {
  return fmt::format("{}-vol-{}", namespace_name_, index);
}

ApiObjectRef PodVolumesMaker::ClaimOf(int64_t index) const {
  auto claim = std::make_shared<ApiObject>(*claim_);
  claim->metadata.name = ClaimName(index);
  std::get<PersistentVolumeClaimObject>(claim->body).volume_name = VolumeName(index);
  return claim;
}

ApiObjectRef PodVolumesMaker::VolumeOf(int64_t index) const {
  auto volume = std::make_shared<ApiObject>(*volume_);
  volume->metadata.name = VolumeName(index);
  auto& spec = std::get<PersistentVolumeObject>(volume->body);
  spec.claim = QualifiedName(namespace_name_, ClaimName(index));
  if (spec.is_csi) {
    spec.handle = volume->metadata.name;
  } else if (spec.driver == MigratedDriverOf(InlineDisk::Kind::kAwsElasticBlockStore)) {
    // The same in every namespace, as in scheduler_perf.
    spec.handle = fmt::format("vol-{}", index);
  }
  return volume;
}

Status PodVolumesMaker::Call(Cluster* cluster, int64_t index, size_t step) const {
  Storage& storage = cluster->storage();
  switch (step) {
    case kCreateClaim: {
      const auto created = cluster->Create(ClaimOf(index), namespace_name_);
      return created ? Status::Ok() : Status(created.error());
    }
    case kCreateVolume: {
      const auto created = cluster->Create(VolumeOf(index), "");
      return created ? Status::Ok() : Status(created.error());
    }
    case kClaimStatus:
      storage.UpdateClaim(QualifiedName(namespace_name_, ClaimName(index)),
                          [](ClusterVolumeClaim*) {});
      return Status::Ok();
    default:
      storage.UpdateVolume(VolumeName(index), [](ClusterVolume*) {});
      return Status::Ok();
  }
}

ApiObjectRef PodVolumesMaker::WithVolume(const ApiObjectRef& pod, int64_t index) const {
  auto object = std::make_shared<ApiObject>(*pod);
  auto& body = std::get<PodObject>(object->body);
  body.pod.volumes =
      std::make_shared<PodVolumes>(PodVolumes{.claims = {ClaimName(index)}, .disks = {}});
  return object;
}

}  // namespace schedq
