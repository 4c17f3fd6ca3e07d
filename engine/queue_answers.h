// What a Pop gives, and where a pod is: the answers of a scheduling queue.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/result.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/queueing_fields.h"

namespace schedq {

struct PoppedGroup;

// An entity: a pod, or a group.
struct PoppedPod {
  PodRef pod;  // Null: a group was popped.
  PodKey key;
  uint64_t cycle = 0;
  QueueingFields fields;                               // The entity's.
  std::shared_ptr<const PoppedGroup> group = nullptr;  // Null: one pod was popped.
};

// What a Pop of a group gives beside the entity's fields. Its members are in flight, each by
// itself; no Pop gives this root again before GroupDone.
struct PoppedGroup {
  GroupKey root;
  std::vector<PoppedPod> members;  // In the order of members; never empty.
};

// Where a pod is and why. Of a member that is queued the expiration and the gating plugin are those
// of its group.
struct PodWhereabouts {
  Place place = Place::kAbsent;
  PodRef pod;  // Null when absent.
  bool live = false;
  QueueingFields fields;
};

// Groups that are queued, and how many pods they are.
struct GroupCounts {
  uint64_t groups = 0;
  uint64_t members = 0;
  bool operator==(const GroupCounts&) const = default;
};

// How many pods are where, members of groups too.
struct QueueCounts {
  uint64_t active = 0;
  uint64_t backoff = 0;
  uint64_t error_backoff = 0;
  uint64_t unschedulable = 0;
  uint64_t gated = 0;
  uint64_t in_flight = 0;
  uint64_t incomplete = 0;
  uint64_t pending = 0;
  // Of the pods above, those that stand there as groups.
  GroupCounts grouped_active = {};
  GroupCounts grouped_error_backoff = {};
  GroupCounts grouped_gated = {};
  bool operator==(const QueueCounts&) const = default;
};

// What an update came to.
struct UpdateAnswer {
  std::optional<Status> status;  // Null: nothing has changed, and the pod may be added.
  bool is_away = false;  // Then: it is live, and stands nowhere, because its attempt is done.
};

}  // namespace schedq
