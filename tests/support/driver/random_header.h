// A random header of a trace: plugins of every kind, backoff settings, a start.
#pragma once

#include "bench/format/trace/trace.h"
#include "engine/base/random.h"
#include "engine/gates.h"

namespace schedq {

// Plugins of every kind stand in random order. Some of their hints err, and some pre-hints leave
// out pods. At least one plugin has a PreEnqueue, so that pods can be gated. With groups there is
// GangScheduling among them.
TraceHeader RandomHeader(Random& random, const Gates& gates);

}  // namespace schedq
