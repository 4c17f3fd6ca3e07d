// Why a queue takes no pod or no nomination: in one line, for whoever asked.
//
// Limits: docs/semantics.md has the table. An operation that is refused has changed nothing.
// Threads: any.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/result.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {

// Whether names of this pod, or the node's, are longer than any queue takes.
bool HasNameTooLong(const Pod& pod, std::string_view node);

// The same of a group object. A queue does not know such a group, nor anything of it.
bool HasNameTooLong(const PodGroup& group);

// `operation` found no room for the pod, or for its nomination to `node` (empty: none). Of names
// that are not too long there are too many, and `pods_max` is how many pods there may be.
[[gnu::cold]] Error Refusal(std::string_view operation, const Pod& pod, std::string_view node,
                            uint64_t pods_max);

// A Fail of a pod that stands in a queue, in `place`.
[[gnu::cold]] Error QueuedAlready(const Pod& pod, Place place);

}  // namespace schedq
