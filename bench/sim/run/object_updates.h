// Updates objects one after the other, as updateAny says: each is replaced by what the file says
// for its number, and then its status is.
//
// The next object follows when both calls for the last one have ended, and not before its tick,
// where the operation says how many are updated a second. Ticks that pass meanwhile are lost but
// for one.
// Threads: one, the one that advances the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "bench/format/workload/model.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/run/simulation.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"

namespace schedq {

class ObjectUpdates {
 public:
  // `op` outlives it, as the simulation does.
  ObjectUpdates(Simulation* simulation, const UpdateAnyOp& op);

  // The calls under way hold it.
  static void Begin(const std::shared_ptr<ObjectUpdates>& updates);

  bool is_done() const { return updated_ == op_.count || error_; }
  // What the API server would not take, which ends the operation.
  const std::optional<Error>& error() const { return error_; }

 private:
  static void UpdateNext(const std::shared_ptr<ObjectUpdates>& updates);
  // A call replaces this part of the object, and then `then` follows.
  static void Send(const std::shared_ptr<ObjectUpdates>& updates, const ApiObjectRef& object,
                   UpdatePart part,
                   void (*then)(const std::shared_ptr<ObjectUpdates>&, const ApiObjectRef&));
  static void EndOne(const std::shared_ptr<ObjectUpdates>& updates);

  Simulation* const simulation_;
  const UpdateAnyOp& op_;
  const UpdatePart first_part_;
  const Duration tick_;  // 0: there is none.
  ObjectRenderer renderer_;
  Instant next_tick_{};
  int64_t updated_ = 0;
  std::optional<Error> error_;
};

}  // namespace schedq
