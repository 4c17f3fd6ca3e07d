// Decodes the operations beyond scheduler_perf's: apiOutage, injectFault and
// updatePods.
#pragma once

#include "bench/format/workload/model.h"
#include "bench/format/workload/params.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/pod.h"

namespace schedq {

ApiOutageOp ReadApiOutage(Params& params, YamlFields& fields);
InjectFaultOp ReadInjectFault(Params& params, YamlFields& fields);
// `selector` is the operation's labelSelector.
UpdatePodsOp ReadUpdatePods(Params& params, YamlFields& fields, Labels selector);

}  // namespace schedq
