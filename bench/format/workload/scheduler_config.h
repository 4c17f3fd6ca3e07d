// Reads a KubeSchedulerConfiguration file: returns the settings that the simulation follows, and
// notes those that it does not as features.
#pragma once

#include "bench/format/workload/features.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {

SchedulerSettings ReadSchedulerConfig(YamlErrors& errors, const YamlNode& root,
                                      FeatureUses& features);

}  // namespace schedq
