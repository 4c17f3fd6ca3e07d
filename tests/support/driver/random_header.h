// A random first line of a trace: plugins of every kind, backoff settings, a start.
#pragma once

#include "bench/format/trace/trace.h"
#include "engine/base/random.h"

namespace schedq {

// Honest, erring and dishonest plugins of every trace kind in random order. Some plugin always has
// a PreEnqueue, so that pods can be gated.
TraceHeader RandomHeader(Random& random, bool pops_from_backoff, bool narrows);

}  // namespace schedq
