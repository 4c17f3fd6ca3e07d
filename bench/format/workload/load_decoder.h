// Decodes `arrivals` and `draws` of createPods, which load.h explains.
#pragma once

#include "bench/format/workload/model.h"
#include "bench/format/workload/params.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {

// Draws also become template parameters, so that the template can be rendered before a draw.
void ReadLoad(Params& params, YamlFields& fields, CreatePodsOp* op);

}  // namespace schedq
