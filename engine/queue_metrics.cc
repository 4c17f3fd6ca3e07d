#include "engine/queue_metrics.h"

#include <array>
#include <string_view>

#include "engine/base/result.h"

namespace schedq {
namespace {

constexpr std::array<std::string_view, 3> kIncomingQueues = {"active", "backoff", "unschedulable"};

constexpr std::array<std::string_view, 2> kEntityTypes = {"pod", "podgroup"};

LabelValues AllEventLabels() {
  LabelValues labels;
  for (EventLabel label = 0; label < kEventLabelCount; ++label) {
    labels.emplace_back(LabelText(label));
  }
  return labels;
}

// Made once: a queue whose registry has its families already costs no text.
const std::vector<LabelValues>& ValuesOfEvent() {
  static const std::vector<LabelValues> kValues = {AllEventLabels()};
  return kValues;
}
const std::vector<LabelValues>& ValuesOfIncoming() {
  static const std::vector<LabelValues> kValues = {
      LabelValues(kIncomingQueues.begin(), kIncomingQueues.end()), AllEventLabels()};
  return kValues;
}
const std::vector<LabelValues>& ValuesOfIncomingEntities() {
  static const std::vector<LabelValues> kValues = {
      LabelValues(kIncomingQueues.begin(), kIncomingQueues.end()), AllEventLabels(),
      LabelValues(kEntityTypes.begin(), kEntityTypes.end())};
  return kValues;
}

}  // namespace

std::string_view IncomingQueueName(Place place) {
  return kIncomingQueues[IncomingQueueIndex(place)];
}

QueueMetrics::QueueMetrics(MetricsRegistry* registry, const std::vector<std::string>& plugin_names,
                           bool has_groups, const std::function<QueueCounts()>& counts) {
  incoming_ =
      &registry->DenseCounters({.name = "scheduler_queue_incoming_pods_total",
                                .help = "Pods added to scheduling queues by event and queue.",
                                .labels = {"queue", "event"}},
                               ValuesOfIncoming());
  SCHEDQ_CHECK(incoming_->series_count() == kIncomingQueues.size() * kEventLabelCount,
               "a series for each queue and label");
  rejected_ = &registry->DensePopulations({.name = "scheduler_unschedulable_pods",
                                           .help = "Pods that a plugin keeps from being scheduled.",
                                           .labels = {"plugin", "profile"}},
                                          {plugin_names, {std::string(kDefaultProfile)}});
  in_flight_ = &registry->DensePopulations(
      {.name = "scheduler_inflight_events",
       .help = "Pods in flight (PodPopped) and the events that are kept for them.",
       .labels = {"event"}},
      ValuesOfEvent());
  scheduled_after_flush_ =
      registry
          ->Counters({.name = "scheduler_pod_scheduled_after_flush_total",
                      .help = "Pods scheduled only because a periodic flush woke them."})
          .At();
  event_handling_ =
      &registry->DenseHistograms({.name = "scheduler_event_handling_duration_seconds",
                                  .help = "How long a cluster event took to be handled.",
                                  .labels = {"event"}},
                                 ExponentialBounds(1e-4, 2, 12), ValuesOfEvent());

  CallbackGaugeFamily& pending = registry->CallbackGauges(
      {.name = "scheduler_pending_pods", .help = "Pods by queue.", .labels = {"queue"}});
  const auto show = [&](const char* queue, auto read) {
    pending_.push_back(
        pending.Register({queue}, [counts, read] { return static_cast<double>(read(counts())); }));
  };
  show("active", [](const QueueCounts& now) { return now.active; });
  show("backoff", [](const QueueCounts& now) { return now.backoff + now.error_backoff; });
  show("unschedulable", [](const QueueCounts& now) { return now.unschedulable; });
  show("gated", [](const QueueCounts& now) { return now.gated; });
  if (!has_groups) return;
  show("incomplete", [](const QueueCounts& now) { return now.incomplete; });
  show("pending", [](const QueueCounts& now) { return now.pending; });
  AddGroupFamilies(registry, counts);
}

// What only a queue with groups counts.
void QueueMetrics::AddGroupFamilies(MetricsRegistry* registry,
                                    const std::function<QueueCounts()>& counts) {
  incoming_entities_ = &registry->DenseCounters(
      {.name = "scheduler_queue_incoming_entities_total",
       .help = "Pods and groups added to scheduling queues by event, queue and type.",
       .labels = {"queue", "event", "type"}},
      ValuesOfIncomingEntities());
  CallbackGaugeFamily& queued =
      registry->CallbackGauges({.name = "scheduler_queued_entities",
                                .help = "Pods that are no members, and groups, by queue.",
                                .labels = {"queue", "type"}});
  const auto show_entities = [&](const char* queue, auto all, auto grouped) {
    const auto single = [counts, all, grouped] {
      const QueueCounts now = counts();
      return static_cast<double>(all(now) - grouped(now).members);
    };
    const auto groups = [counts, grouped] { return static_cast<double>(grouped(counts()).groups); };
    pending_.push_back(queued.Register({queue, "pod"}, single));
    pending_.push_back(queued.Register({queue, "podgroup"}, groups));
  };
  show_entities(
      "active", [](const QueueCounts& now) { return now.active; },
      [](const QueueCounts& now) { return now.grouped_active; });
  show_entities(
      "backoff", [](const QueueCounts& now) { return now.backoff + now.error_backoff; },
      [](const QueueCounts& now) { return now.grouped_error_backoff; });
  show_entities(
      "unschedulable", [](const QueueCounts& now) { return now.unschedulable; },
      [](const QueueCounts&) { return GroupCounts(); });
  show_entities(
      "gated", [](const QueueCounts& now) { return now.gated; },
      [](const QueueCounts& now) { return now.grouped_gated; });
}

std::string_view EntityTypeName(EntityType type) { return kEntityTypes[static_cast<int>(type)]; }

Counter QueueMetrics::IncomingEntities(Place place, EventLabel label, EntityType type) const {
  return incoming_entities_->At(IncomingQueueIndex(place), label, static_cast<int>(type));
}

}  // namespace schedq
