#include "bench/sim/run/steady_state.h"

#include <cstddef>
#include <vector>

#include "bench/format/objects/object_template.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {
namespace {

constexpr char kListenerKey[] = "steady state";

}  // namespace

Result<std::unique_ptr<SteadyState>> SteadyState::Start(Simulation* simulation,
                                                        const CreatePodsOp& op) {
  auto seeds = std::make_shared<std::vector<ApiObjectRef>>();
  ObjectRenderer renderer(op.pod, op.count);
  for (int64_t i = 0; i < op.count; ++i) {
    Result<ApiObjectRef> object = renderer.Render(i);
    if (!object) return object.error();
    seeds->push_back(std::move(*object));
  }
  Result<ApiObjectRef> replacement = ObjectRenderer(op.pod, 1).Render(0);
  if (!replacement) return replacement.error();
  std::unique_ptr<SteadyState> steady(new SteadyState(simulation, op, std::move(*replacement)));
  simulation->pods().ListenToScheduled(kListenerKey, [self = steady.get()](const ClusterPod& pod) {
    if (pod.namespace_name != self->namespace_) return;
    ++self->scheduled_;
    self->to_replace_.push_back(pod.number);
    if (!self->is_busy_) self->ReplaceNext();
  });
  Cluster* const cluster = &simulation->cluster();
  simulation->client().DoAll(
      op.count, simulation->costs().creators, simulation->costs().create,
      [seeds, cluster, space = op.namespace_name](int64_t index) {
        static_cast<void>(cluster->Create((*seeds)[static_cast<size_t>(index)], space));
      },
      [] {});
  return steady;
}

SteadyState::~SteadyState() { simulation_->pods().StopListening(kListenerKey); }

void SteadyState::ReplaceNext() {
  is_busy_ = !to_replace_.empty();
  if (!is_busy_) return;
  const uint64_t number = to_replace_.front();
  to_replace_.pop_front();
  const std::weak_ptr<bool> alive = alive_;
  simulation_->client().Do(simulation_->costs().remove, [this, alive, number] {
    if (alive.expired()) return;
    simulation_->cluster().DeletePod(number);
    simulation_->client().Do(simulation_->costs().create, [this, alive] {
      if (alive.expired()) return;
      static_cast<void>(simulation_->cluster().Create(replacement_, namespace_));
      ReplaceNext();
    });
  });
}

}  // namespace schedq
