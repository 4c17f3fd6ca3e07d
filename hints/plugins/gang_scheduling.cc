// GangScheduling: a member waits until its group is known and has as many members as it needs.
//
// All pods of the group that were added and not deleted count, bound ones too.
// Worth another attempt: a member comes, assigned to a node or not; the group's object comes, or
// needs fewer members than before.
// Where members wait for each other's nodes is no business of the queue.
#include <string>

#include "engine/event.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/group_hints.h"
#include "hints/world.h"

namespace schedq {

Plugin GangSchedulingPlugin(const World* world) {
  Plugin plugin;
  plugin.name = "GangScheduling";
  plugin.rejection_message = "the pod's group has fewer members than it needs";
  plugin.pre_enqueue = [world](const Pod& pod, std::string* message) {
    return GangIsComplete(*world, pod, message);
  };
  plugin.events = {
      {Resource::kUnscheduledPod, Action::kAdd, AfterChangeOfSameGroup, {}},
      {Resource::kAssignedPod, Action::kAdd, AfterChangeOfSameGroup, {}},
      {Resource::kPodGroup, Action::kAdd, AfterChangeOfSameGroup, {}},
      {Resource::kPodGroup, Action::kUpdate, AfterMinCountLowered, {}},
  };
  return plugin;
}

}  // namespace schedq
