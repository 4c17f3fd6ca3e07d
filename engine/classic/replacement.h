// A pod whose name passes to a later one, and which comes back if PreEnqueue throws at the later
// one. Guarded by the engine's mutex.
//
// Purpose: the old pod leaves first, and the rest of its group is asked without it. When the later
// pod then cannot enter, the operation has not happened: everything is as it was, and nothing has
// been counted or told. Retreat does the same for one entity and one question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/classic/classic_queue.h"
#include "engine/classic/entity.h"
#include "engine/event.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/queue_metrics.h"
#include "engine/queueing_fields.h"

namespace schedq {

// Entities that entered a queue and are not counted yet.
struct ClassicQueue::HeldCount {
  Place place;
  EventLabel label;
  uint64_t pods;
  std::optional<EntityType> entity;  // Nothing: a verdict had named the place.
};

class ClassicQueue::Replacement {
 public:
  // Deletes the live pod. If that throws, nothing has happened.
  Replacement(ClassicQueue& queue, PodEntity& old);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() { queue_.held_counts_ = nullptr; }

  // The later pod has entered. The old one may be freed.
  void Finish();
  // The later pod is in no queue. The old one comes back.
  void Undo();

 private:
  // Of a group's member before the old pod left.
  struct Before {
    PodEntity* pod;
    QueueingFields fields;
  };

  void SaveGroup();
  void PutBackGroup();
  void PutBackFields(PodEntity& pod, const QueueingFields& fields) const;

  ClassicQueue& queue_;
  PodEntity& old_;
  const PodRef pod_;
  const Place queued_;
  const bool was_queued_;
  const Before before_;
  const std::string nomination_;
  const size_t told_before_;
  std::unique_ptr<GroupEntity> group_;  // As it was; null: there was none.
  std::vector<Before> others_;          // Its queued members.
  std::vector<HeldCount> counts_;
};

}  // namespace schedq
