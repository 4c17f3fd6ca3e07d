// Tells the queue that a pod takes no room on a node any more, though it never was bound there.
#pragma once

#include "engine/event.h"
#include "engine/pod.h"
#include "schedq/assembled_queue.h"
#include "schedq/cluster_events.h"

namespace schedq {

inline void TellOfRoom(AssembledQueue* queue, const PodRef& pod) {
  queue->Event(MakeEvent(Resource::kAssignedPod, Action::kDelete), {AssignedPodView(pod), nullptr});
}

// The same, but not to the pod itself, which this room does not help.
inline void TellOthersOfRoom(AssembledQueue* queue, const PodRef& pod) {
  queue->Event(MakeEvent(Resource::kAssignedPod, Action::kDelete), {AssignedPodView(pod), nullptr},
               [&pod](const Pod& other) { return other.uid != pod->uid; });
}

}  // namespace schedq
