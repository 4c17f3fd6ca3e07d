// A lock-free queue of any shape, with ports that let every pod pass and every event help.
//
// Threads: the queue's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/backoff.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/lockfree/lockfree_queue.h"
#include "engine/lockfree/queue_shape.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "tests/support/queue_wiring.h"

namespace schedq {

class WillingPorts final : public RequeueJudge, public PreEnqueueCheck {
 public:
  PluginId Check(const Pod&, PluginId) const override { return kNoPlugin; }
  std::string Explain(const Pod&, PluginId) const override { return ""; }
  PluginSet RegisteredFor(const ClusterEvent&) const override { return PluginSet::Of(0); }
  void Narrow(const ClusterEvent&, const ObjectChange&, Narrowing* narrowing) const override {
    narrowing->asked_of_all = kEveryRegistration;
    narrowing->plugins_of_all = PluginSet::Of(0);
  }
  void Judge(std::span<const JudgedPod>, const ClusterEvent&, const ObjectChange&,
             std::span<Verdict> verdicts) const override {
    for (Verdict& verdict : verdicts) verdict = Verdict::kAfterBackoff;
  }
};

// Its only plugin, number 0, is Fit.
template <typename Shape = LockfreeQueueShape>
class LockfreeScene {
 public:
  using Queue = BasicLockfreeQueue<std::atomic, Shape>;

  explicit LockfreeScene(BackoffPolicy backoff = {}) {
    QueueOptions options = OptionsAround(&clock_, &names_, &ports_, &metrics_, {"Fit"});
    options.backoff = backoff;
    queue_.emplace(std::move(options));
  }

  static PodRef PodNamed(const std::string& name, int32_t priority = 0) {
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "ns";
    pod->name = pod->uid = name;
    pod->priority = priority;
    return pod;
  }

  Queue& queue() { return *queue_; }
  VirtualClock& clock() { return clock_; }
  Interner& names() { return names_; }

 private:
  VirtualClock clock_{Instant(std::chrono::seconds(1000))};
  Interner names_{2};
  WillingPorts ports_;
  MetricsRegistry metrics_;
  std::optional<Queue> queue_;
};

}  // namespace schedq
