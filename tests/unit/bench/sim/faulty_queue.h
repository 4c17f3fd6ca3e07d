// An engine behind a queue that plants one fault, which a gate must catch.
//
// Purpose: canaries. All operations reach the engine unchanged, except those of the fault.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/classic/classic_queue.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/queue.h"
#include "tests/support/queue/forwarding_queue.h"

namespace schedq {

enum class QueueFault : uint8_t {
  kNone,
  kNoNarrowing,            // Every event concerns all pods.
  kDoubledRequeue,         // A pod that an event moves to backoff is activated too.
  kLostBackoffFlush,       // Every second flush of backoff does nothing.
  kLostUnschedulableFlush  // The flush of the pool does nothing.
};

class FaultyQueue final : public ForwardingQueue {
 public:
  FaultyQueue(QueueOptions options, QueueFault fault)
      : ForwardingQueue(std::make_unique<ClassicQueue>(Prepared(std::move(options), fault))),
        fault_(fault) {}

  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override {
    inner().Event(event, change, pre_check);
    if (fault_ == QueueFault::kDoubledRequeue) inner().Activate(inner().List(Place::kBackoff));
  }
  void FlushBackoff() override {
    if (fault_ == QueueFault::kLostBackoffFlush && ++flushes_ % 2 == 0) return;
    inner().FlushBackoff();
  }
  void FlushUnschedulable() override {
    if (fault_ != QueueFault::kLostUnschedulableFlush) inner().FlushUnschedulable();
  }

 private:
  static QueueOptions Prepared(QueueOptions options, QueueFault fault) {
    if (fault != QueueFault::kNoNarrowing) return options;
    GateRequest request;
    for (int i = 0; i < kGateCount; ++i) {
      const auto gate = static_cast<Gate>(i);
      request.Set(gate, options.gates.On(gate));
    }
    request.Set(Gate::kSchedulerPreQueueingHints, false);
    options.gates = *Gates::Resolve(request);
    return options;
  }

  const QueueFault fault_;
  uint64_t flushes_ = 0;
};

}  // namespace schedq
