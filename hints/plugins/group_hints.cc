#include "hints/plugins/group_hints.h"

#include "engine/event.h"
#include "hints/groups/group_index.h"

namespace schedq {
namespace {

// The group that the object is, or that the pod it stands for is a member of; empty: none.
const std::string& GroupOf(const ObjectView& object) {
  if (object.resource == Resource::kPodGroup) return object.name;
  return object.pod != nullptr ? object.pod->group_name : object.group_name;
}

bool ConcernsGroupOf(const Pod& pod, const ObjectView& object) {
  return !pod.group_name.empty() && GroupOf(object) == pod.group_name &&
         object.namespace_name == pod.namespace_name;
}

}  // namespace

bool GangIsComplete(const World& world, const Pod& pod, std::string* message) {
  if (pod.group_name.empty()) return true;
  const GroupFacts group = world.groups().Of(pod.namespace_name, pod.group_name);
  if (group.HasEnoughMembers()) return true;
  if (message != nullptr) {
    *message = group.is_known ? std::to_string(group.members) + " of " +
                                    std::to_string(group.min_count) + " members"
                              : "waiting for pod group \"" + pod.group_name + "\"";
  }
  return false;
}

Hint AfterChangeOfSameGroup(const Pod& pod, const ObjectChange& change) {
  const ObjectView* object = change.Latest();
  if (object == nullptr) return Hint::kError;
  return ConcernsGroupOf(pod, *object) ? Hint::kQueue : Hint::kSkip;
}

Hint AfterMinCountLowered(const Pod& pod, const ObjectChange& change) {
  if (change.before == nullptr || change.after == nullptr) return Hint::kError;
  const ObjectView& group = *change.after;
  const bool is_lowered = 0 < group.min_count && group.min_count < change.before->min_count;
  const bool is_own = group.resource == Resource::kPodGroup && ConcernsGroupOf(pod, group);
  return is_lowered && is_own ? Hint::kQueue : Hint::kSkip;
}

}  // namespace schedq
