#include "bench/sim/run/object_updates.h"

#include <string>
#include <utility>

#include "engine/base/time/virtual_clock.h"

namespace schedq {
namespace {

UpdatePart FirstPartOf(const UpdateAnyOp& op) {
  if (op.subresources.empty()) return UpdatePart::kObject;
  return op.subresources[0] == kResizeSubresource ? UpdatePart::kResize : UpdatePart::kStatus;
}

}  // namespace

ObjectUpdates::ObjectUpdates(Simulation* simulation, const UpdateAnyOp& op)
    : simulation_(simulation),
      op_(op),
      first_part_(FirstPartOf(op)),
      tick_(op.updates_per_second == 0 ? Duration(0) : kSecond / op.updates_per_second),
      renderer_(op.object, op.count) {}

void ObjectUpdates::Begin(const std::shared_ptr<ObjectUpdates>& updates) {
  updates->next_tick_ = updates->simulation_->clock().Now() + updates->tick_;
  EndOne(updates);
}

// After an object, or before the first one.
void ObjectUpdates::EndOne(const std::shared_ptr<ObjectUpdates>& updates) {
  if (updates->is_done()) return;
  VirtualClock& clock = updates->simulation_->clock();
  const Instant now = clock.Now();
  if (updates->tick_ == Duration(0)) return UpdateNext(updates);
  if (now < updates->next_tick_) {
    clock.At(updates->next_tick_, [updates] { UpdateNext(updates); });
    updates->next_tick_ += updates->tick_;
    return;
  }
  updates->next_tick_ += ((now - updates->next_tick_) / updates->tick_ + 1) * updates->tick_;
  UpdateNext(updates);
}

void ObjectUpdates::UpdateNext(const std::shared_ptr<ObjectUpdates>& updates) {
  Result<ApiObjectRef> object = updates->renderer_.Render(updates->updated_);
  if (!object) {
    updates->error_ = object.error();
    return;
  }
  Send(updates, *object, updates->first_part_, [](const auto& self, const ApiObjectRef& updated) {
    Send(self, updated, UpdatePart::kStatus, [](const auto& done, const ApiObjectRef&) {
      ++done->updated_;
      EndOne(done);
    });
  });
}

void ObjectUpdates::Send(const std::shared_ptr<ObjectUpdates>& updates, const ApiObjectRef& object,
                         UpdatePart part,
                         void (*then)(const std::shared_ptr<ObjectUpdates>&, const ApiObjectRef&)) {
  Simulation& simulation = *updates->simulation_;
  simulation.client().Do(simulation.costs().status, [updates, object, part, then] {
    const Status updated =
        updates->simulation_->cluster().Update(*object, updates->op_.namespace_name, part);
    if (!updated) {
      updates->error_ = updated.error();
      return;
    }
    then(updates, object);
  });
}

}  // namespace schedq
