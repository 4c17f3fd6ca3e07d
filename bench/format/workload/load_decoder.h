// Decodes `arrivals` and `draws` of createPods; load.h says what they mean.
#pragma once

#include "bench/format/workload/model.h"
#include "bench/format/workload/params.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {

// Draws become template parameters too, so that the template renders before anything is drawn.
void ReadLoad(Params& params, YamlFields& fields, CreatePodsOp* op);

}  // namespace schedq
