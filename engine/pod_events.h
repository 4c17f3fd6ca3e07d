// The events that the update of a pod stands for.
#pragma once

#include <array>
#include <cstddef>

#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {

// The change of one pod as hints see it. Either version may be null.
ObjectChange TargetPodChange(const PodRef& before, const PodRef& after);

// The events of one update, in the order in which they are judged. At least one, at most six. The
// object is a range itself, so that a loop over a temporary keeps the events alive.
class PodUpdateEvents {
 public:
  // The change from `before` to `after`, as events on TargetPod.
  PodUpdateEvents(const Pod& before, const Pod& after);

  const ClusterEvent* begin() const { return events_.data(); }
  const ClusterEvent* end() const { return events_.data() + count_; }

 private:
  void AddIf(bool changed, Action action);

  std::array<ClusterEvent, 6> events_;
  size_t count_ = 0;
};

}  // namespace schedq
