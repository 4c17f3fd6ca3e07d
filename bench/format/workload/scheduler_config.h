// A KubeSchedulerConfiguration file: the settings that the simulation follows, and the names of
// those that it does not.
#pragma once

#include "bench/format/workload/model.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {

SchedulerSettings ReadSchedulerConfig(YamlErrors& errors, const YamlNode& root,
                                      FeatureUses& features);

}  // namespace schedq
