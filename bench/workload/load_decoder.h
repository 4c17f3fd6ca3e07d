// Decodes `arrivals` and `draws` of createPods; load.h says what they mean.
#pragma once

#include "bench/workload/model.h"
#include "bench/workload/params.h"
#include "bench/workload/yaml_reader.h"

namespace schedq {

// Draws become template parameters too, so that the template renders before anything is drawn.
void ReadLoad(Params& params, YamlFields& fields, CreatePodsOp* op);

}  // namespace schedq
