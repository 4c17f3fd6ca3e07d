// The binding workers: what follows a decision, up to the API server's answer.
//
// Purpose: kube-scheduler's binding cycle. A binding for which PreBind has steps to take shows its
// node first (KEP-5278), takes them, and then sends the binding: through the dispatcher where the
// queue has one, else at once. A binding that fails gives back what was assumed, and the pod is
// tried again.
// Threads: Begin from any thread; a thread of its own; calls run on the cluster's
// thread.
// Memory: the bindings under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/real/attempt_book.h"
#include "bench/sim/real/binding.h"
#include "bench/sim/real/channel.h"
#include "bench/sim/real/metered_thread.h"
#include "bench/sim/real/part_clock.h"
#include "bench/sim/real/wall_pace.h"
#include "bench/sim/scheduler/loop_metrics.h"
#include "engine/base/result.h"
#include "schedq/assembled_queue.h"

namespace schedq {

class Binder {
 public:
  // All outlive it.
  struct Surroundings {
    AssembledQueue* queue = nullptr;
    SchedulerCache* cache = nullptr;
    AttemptBook* attempts = nullptr;
    Cluster* cluster = nullptr;
    WallPace* pace = nullptr;
    const LoopMetrics* metrics = nullptr;
  };

  explicit Binder(const Surroundings& surroundings);
  ~Binder() { Stop(); }
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  void Begin(BindingRef binding);
  // Whether no binding is under way.
  bool IsIdle() const { return under_way_.load() == 0; }
  // Ends the thread once no binding is in a step. Again: nothing.
  void Stop();

  ThreadUsage usage() const { return thread_.usage(); }

 private:
  void Run(PartClock* parts);
  void Step(const BindingRef& binding);
  void BeginSteps(const BindingRef& binding);
  void TakeSteps(const BindingRef& binding);
  void Send(const BindingRef& binding);
  // Before the queue hears of it. On the cluster's thread, or any that ends a call.
  void OnAnswer(const BindingRef& binding, const Status& status);
  // The pod's wait for Permit has ended so.
  void Reject(const BindingRef& binding);
  // What follows a binding that has failed: its place and its promises go before the queue may
  // give the pod to another thread, and then the queue hears of the room.
  void GiveBack(const BindingRef& binding);
  void Tell(const BindingRef& binding);
  void Count(const Binding& binding, AttemptResult result) const;

  const Surroundings around_;
  Channel<BindingRef> steps_;
  std::atomic<int64_t> under_way_{0};  // Raised and lowered by any thread.
  MeteredThread thread_;
};

}  // namespace schedq
