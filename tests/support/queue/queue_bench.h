// A queue with everything around it, for tests: names, a world, plugins, the virtual clock.
//
// Purpose: a test says which plugins, gates and engine it wants, drives the queue through short
// helpers, and looks at places. Plugins are ordinary values of hints/plugin.h.
// Threads: the helpers are for one thread; the queue itself may be used from several.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/backoff.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"
#include "hints/plugin.h"
#include "hints/registry.h"  // IWYU pragma: keep
#include "hints/world.h"
#include "schedq/assembled_queue.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct QueueBenchOptions {
  EngineKind engine = EngineKind::kLockfree;
  std::vector<Plugin> plugins;
  Gates gates;
  BackoffPolicy backoff;
  // A fraction, so that windows of absolute time and seconds since the start differ.
  Instant start = Instant(std::chrono::seconds(1767225600) + std::chrono::milliseconds(300));
  std::vector<QueueObserver*> observers;
  uint64_t pods_max = 0;
};

// Gates with one or two of them set.
Gates GatesWith(Gate gate, bool on);
Gates GatesWith(Gate first, bool first_on, Gate second, bool second_on);

// A pod of namespace "ns" whose uid is "uid-<name>".
std::shared_ptr<Pod> MakePod(const std::string& name, int32_t priority = 0);

class QueueBench {
 public:
  explicit QueueBench(QueueBenchOptions options);

  SchedulingQueue& queue() { return assembled_->queue(); }
  AssembledQueue& assembled() { return *assembled_; }
  VirtualClock& clock() { return clock_; }
  MetricsRegistry& metrics() { return assembled_->metrics(); }
  World& world() { return assembled_->world(); }
  Interner& pod_names() { return assembled_->pod_names(); }

  PluginId PluginNamed(const std::string& name) const;
  PluginSet Plugins(const std::vector<std::string>& names) const;

  void Advance(Duration by) { clock_.AdvanceTo(clock_.Now() + by); }
  // Whole milliseconds since the start.
  int64_t ElapsedMs() const;

  // The world learns first, then the queue, as docs/semantics.md wants it.
  void Add(const PodRef& pod);
  void Update(const PodRef& before, const PodRef& after);
  void Delete(const PodRef& pod);
  void Bind(const PoppedPod& popped);

  // Pops; a pod must be there.
  PoppedPod MustPop();
  Status Fail(const PoppedPod& popped, const std::vector<std::string>& unschedulable,
              const std::vector<std::string>& pending = {});
  // Adds, pops and fails one pod.
  void AddRejected(const PodRef& pod, const std::vector<std::string>& unschedulable,
                   const std::vector<std::string>& pending = {});

  // "active", "gated:PLUGIN", "backoff@MS" as traces write places.
  std::string PlaceOf(const std::string& name) const;
  QueueingFields FieldsOf(const std::string& name) const;
  uint64_t Incoming(Place place, EventLabel label) const {
    return std::as_const(*assembled_).queue().Metrics().IncomingTotal(place, label);
  }
  uint64_t Incoming(Place place, SpecialLabel label) const {
    return Incoming(place, LabelOf(label));
  }

 private:
  const Instant start_;
  VirtualClock clock_;
  std::unique_ptr<AssembledQueue> assembled_;
};

}  // namespace schedq
