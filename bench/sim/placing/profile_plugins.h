// The queue-facing plugins of a scheduler with profiles.
#pragma once

#include <vector>

#include "bench/format/workload/scheduler_settings.h"
#include "hints/plugin.h"

namespace schedq {

// Where a profile turns a plugin's PreEnqueue off, its pods pass it. Pods are ClusterPods then.
std::vector<Plugin> WithProfiles(std::vector<Plugin> plugins, const SchedulerSettings& settings);

}  // namespace schedq
