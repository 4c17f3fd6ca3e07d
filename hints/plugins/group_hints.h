// Functions that the plugins of pod groups share.
#pragma once

#include <string>

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/world.h"

namespace schedq {

// The pod may enter: it is no member, or its group is known and has as many members as it needs.
// When not, and `message` is not null, says what the pod waits for.
bool GangIsComplete(const World& world, const Pod& pod, std::string* message);

// Queue: the change is of the pod's group, or of a pod of that group.
Hint AfterChangeOfSameGroup(const Pod& pod, const ObjectChange& change);
// Queue: the pod's group is a gang before and after the change, and needs fewer members than
// before.
Hint AfterMinCountLowered(const Pod& pod, const ObjectChange& change);

}  // namespace schedq
