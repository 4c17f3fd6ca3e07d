#include "bench/sim/run/churn.h"

#include <utility>

#include "bench/format/objects/object_template.h"
#include "bench/sim/run/client.h"
#include "engine/base/time/virtual_clock.h"

namespace schedq {

Result<std::unique_ptr<Churn>> Churn::Start(Simulation* simulation, const ChurnOp& op) {
  std::vector<ApiObjectRef> objects;
  for (const ObjectTemplateRef& object : op.objects) {
    Result<ApiObjectRef> rendered = ObjectRenderer({object, {}}, 1).Render(0);
    if (!rendered) return rendered.error();
    objects.push_back(std::move(*rendered));
  }
  return std::unique_ptr<Churn>(new Churn(simulation, op, std::move(objects)));
}

Churn::Churn(Simulation* simulation, const ChurnOp& op, std::vector<ApiObjectRef> objects)
    : simulation_(simulation),
      recreate_(op.recreate),
      number_(op.number),
      namespace_(op.namespace_name),
      objects_(std::move(objects)) {
  if (recreate_) {
    slots_.resize(objects_.size());
    for (auto& slots : slots_) slots.resize(static_cast<size_t>(number_));
  }
  VirtualClock& clock = simulation_->clock();
  ticker_ = clock.Every(clock.Now() + op.interval, op.interval, [this] { Tick(); });
}

void Churn::Tick() {
  const int64_t tick = ticks_++;
  // A year of ticks that do nothing would take hours.
  if (!recreate_ && number_ > 0 && tick >= number_) return Stop();
  Client& client = simulation_->client();
  for (size_t i = 0; i < objects_.size(); ++i) {
    if (!recreate_) {
      Create(i, nullptr);
      continue;
    }
    std::optional<ObjectHandle>& slot = slots_[i][static_cast<size_t>(tick % number_)];
    if (!slot) {
      Create(i, &slot);
      continue;
    }
    client.Do(simulation_->costs().remove,
              [cluster = &simulation_->cluster(), gone = *std::exchange(slot, std::nullopt)] {
                cluster->Delete(gone);
              });
  }
}

// A creation that fails leaves its slot empty, as upstream does. A call may capture the churn,
// because time stops when the churn ends, so that no call runs later.
void Churn::Create(size_t object, std::optional<ObjectHandle>* slot) {
  simulation_->client().Do(simulation_->costs().create, [this, object, slot] {
    const Result<ObjectHandle> created =
        simulation_->cluster().Create(objects_[object], namespace_);
    if (created && slot != nullptr) *slot = *created;
  });
}

}  // namespace schedq
