// A random header of a trace: plugins of every kind, backoff settings, a start.
#pragma once

#include "bench/format/trace/trace.h"
#include "engine/base/random.h"

namespace schedq {

// Plugins of every kind stand in random order. Some of their hints err, and some pre-hints leave
// out pods. At least one plugin has a PreEnqueue, so that pods can be gated.
TraceHeader RandomHeader(Random& random, bool pops_from_backoff, bool narrows);

}  // namespace schedq
