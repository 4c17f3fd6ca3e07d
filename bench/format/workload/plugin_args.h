// Reads the arguments of one plugin in a KubeSchedulerConfiguration.
#pragma once

#include <string>

#include "bench/format/workload/features.h"
#include "bench/format/workload/scheduler_settings.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {

// Adds an error to `errors` where they are malformed, and notes what the simulation does not
// follow.
void ReadPluginArgs(YamlErrors& errors, const std::string& plugin, const YamlNode& args,
                    SchedulerProfile* profile, FeatureUses& features);

}  // namespace schedq
