// A pod on its way to its node, after the scheduling thread has let go of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/queue_answers.h"
#include "schedq/attempt.h"

namespace schedq {

struct Binding {
  enum class Step : uint8_t {
    kBegin,     // Nothing is done yet, but for Permit.
    kBind,      // PreBind is done.
    kGiveUp,    // A step of PreBind failed. The attempt is to fail.
    kTell,      // The binding has failed and the attempt with it; its place is given back.
    kRejected,  // A Permit plugin has rejected the pod after a wait, or the pod was deleted.
  };

  Binding(Attempt attempt_made, Decision decision_made, Instant started_at)
      : attempt(std::move(attempt_made)),
        popped(attempt.popped()),
        decision(std::move(decision_made)),
        started(started_at) {}

  const ClusterPod& pod() const { return AsClusterPod(*popped.pod); }

  Attempt attempt;
  const PoppedPod popped;
  const Decision decision;
  const Instant started;  // When the pod was popped.
  PluginSet rejectors;    // Of kRejected.
  bool is_shown = false;  // Its node was shown when its wait for Permit began.
  size_t steps = 0;       // Of PreBind. Set by Binder::Begin.
  size_t steps_taken = 0;
  Duration waited{};  // For the next one. Of the cluster's thread.
  Step step = Step::kBegin;
};
using BindingRef = std::shared_ptr<Binding>;

}  // namespace schedq
