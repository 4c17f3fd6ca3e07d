// Hints that several plugins of volumes share.
// Threads: pure functions.
#pragma once

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"

namespace schedq {

// A PersistentVolumeClaim appeared or changed: it may help the pods that mount it.
Hint AfterVolumeClaimChange(const Pod& pod, const ObjectChange& change);

}  // namespace schedq
