// The metrics of a scheduling queue, as both engines keep them and as docs/formats.md names them.
//
// Threads: everything from any thread; the Add and Observe functions are wait-free and do not
// allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/queue_answers.h"

namespace schedq {

// What an entity of a queue is, in the words of metrics.
enum class EntityType : uint8_t { kPod, kPodGroup };
std::string_view EntityTypeName(EntityType type);

// The position of the place's queue among the queue labels.
constexpr size_t IncomingQueueIndex(Place place) {
  if (place == Place::kActive) return 0;
  return InBackoff(place) ? 1 : 2;
}

class QueueMetrics {
 public:
  // `counts` gives scheduler_pending_pods its values whenever the metrics are read. It must be
  // callable as long as this object lives.
  // `has_groups`: the gate GenericWorkload is on, and what it adds is kept.
  QueueMetrics(MetricsRegistry* registry, const std::vector<std::string>& plugin_names,
               bool has_groups, const std::function<QueueCounts()>& counts);

  // What is counted of each pod is inlined where it is counted: most labels and amounts are
  // constants there, and a call costs as much as the addition.

  // So many pods entered `place`: active, either backoff, or the pool (either of its places).
  [[gnu::always_inline]] void AddIncoming(Place place, EventLabel label, uint64_t pods = 1) const {
    Incoming(place, label).Add(pods);
  }
  uint64_t IncomingTotal(Place place, EventLabel label) const {
    return Incoming(place, label).Value();
  }
  // Whether entities are counted: only where groups are known.
  bool counts_entities() const { return incoming_entities_ != nullptr; }
  // An entity entered, and no verdict had named the place.
  void AddIncomingEntity(Place place, EventLabel label, EntityType type) const {
    if (counts_entities()) IncomingEntities(place, label, type).Add(1);
  }
  // 0 where they are not kept.
  uint64_t IncomingEntitiesTotal(Place place, EventLabel label, EntityType type) const {
    return counts_entities() ? IncomingEntities(place, label, type).Value() : 0;
  }
  // A plugin became, or ceased to be, a rejector of a pod. A caller may name one that is not
  // registered: it has no gauge.
  [[gnu::always_inline]] void AddRejected(PluginId plugin, int64_t amount) const {
    if (plugin < rejected_->series_count()) rejected_->AtSeries(plugin).Add(amount);
  }
  // Pods (under the label PodPopped) and events kept for pods in flight.
  [[gnu::always_inline]] void AddInFlight(EventLabel label, int64_t amount) const {
    in_flight_->AtSeries(label).Add(amount);
  }
  void AddScheduledAfterFlush() const { scheduled_after_flush_.Add(1); }
  void ObserveEventHandling(EventLabel label, Duration duration) const {
    event_handling_->At(label).Observe(duration);
  }

 private:
  void AddGroupFamilies(MetricsRegistry* registry, const std::function<QueueCounts()>& counts);
  // The series is found without the sizes of its family.
  [[gnu::always_inline]] Counter Incoming(Place place, EventLabel label) const {
    return incoming_->AtSeries(IncomingQueueIndex(place) * kEventLabelCount + label);
  }
  Counter IncomingEntities(Place place, EventLabel label, EntityType type) const;

  DenseCounterFamily* incoming_;
  DenseCounterFamily* incoming_entities_ = nullptr;  // Null: groups are not known.
  DensePopulationFamily* rejected_;
  DensePopulationFamily* in_flight_;
  Counter scheduled_after_flush_;
  DenseHistogramFamily* event_handling_;
  std::vector<CallbackGaugeFamily::Registration> pending_;
};

// The queue labels of scheduler_queue_incoming_pods_total.
std::string_view IncomingQueueName(Place place);

// The one profile that is modelled; the `profile` label of upstream's metrics.
inline constexpr std::string_view kDefaultProfile = "default-scheduler";

}  // namespace schedq
