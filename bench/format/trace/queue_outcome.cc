#include "bench/format/trace/queue_outcome.h"

#include <cstdint>
#include <map>

#include "engine/event.h"
#include "engine/place.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"

namespace schedq {
namespace {

// `key` names the place and the label.
void SumEntities(const SchedulingQueue& queue, Place place, EventLabel label,
                 const std::string& key, std::map<std::string, int64_t>* totals) {
  for (const EntityType type : {EntityType::kPod, EntityType::kPodGroup}) {
    const uint64_t total = queue.Metrics().IncomingEntitiesTotal(place, label, type);
    if (total == 0) continue;
    (*totals)[key + "|" + std::string(EntityTypeName(type))] = static_cast<int64_t>(total);
  }
}

}  // namespace

std::string PlaceText(const SchedulingQueue& queue, const PluginRegistry& plugins, Instant start,
                      const std::string& full_name) {
  const PodWhereabouts where = queue.Where(full_name);
  std::string text(PlaceName(where.place));
  if (InBackoff(where.place)) {
    const Instant expiration = where.fields.backoff_expiration.value_or(start);
    text += "@" + std::to_string(MillisecondsSince(start, expiration));
  } else if (where.place == Place::kGated) {
    text += ":" + plugins.plugin(where.fields.gating_plugin).name;
  }
  return text;
}

void SumQueue(const SchedulingQueue& queue, bool has_groups, TraceWant* outcome) {
  if (has_groups) outcome->incoming_entities.emplace();
  outcome->scheduling_cycle = static_cast<int64_t>(queue.SchedulingCycle());
  outcome->logged_events = static_cast<int64_t>(queue.LoggedEvents());
  for (const Place place : {Place::kActive, Place::kBackoff, Place::kUnschedulable}) {
    for (EventLabel label = 0; label < kEventLabelCount; ++label) {
      const std::string key =
          std::string(IncomingQueueName(place)) + "|" + std::string(LabelText(label));
      const uint64_t total = queue.Metrics().IncomingTotal(place, label);
      if (total > 0) outcome->incoming[key] = static_cast<int64_t>(total);
      if (has_groups) SumEntities(queue, place, label, key, &*outcome->incoming_entities);
    }
  }
}

}  // namespace schedq
