// Tells the queue that a pod takes no room on a node any more, though it never was bound there.
#pragma once

#include <string>

#include "engine/event.h"
#include "engine/pod.h"
#include "schedq/assembled_queue.h"
#include "schedq/cluster_events.h"

namespace schedq {

inline void TellOfRoom(AssembledQueue* queue, const Pod& pod, const std::string& node,
                       const AssembledQueue::PreCheck& pre_check = {}) {
  queue->Event(MakeEvent(Resource::kAssignedPod, Action::kDelete),
               {AssumedPodView(pod, node), nullptr}, pre_check);
}

// The same, but not to the pod itself, which this room does not help.
inline void TellOthersOfRoom(AssembledQueue* queue, const Pod& pod, const std::string& node) {
  TellOfRoom(queue, pod, node, [&pod](const Pod& other) { return other.uid != pod.uid; });
}

}  // namespace schedq
