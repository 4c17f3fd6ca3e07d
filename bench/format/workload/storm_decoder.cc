#include "bench/format/workload/storm_decoder.h"

#include <utility>

#include "engine/base/time/time.h"

namespace schedq {

ApiOutageOp ReadApiOutage(Params& params, YamlFields& fields) {
  ApiOutageOp op;
  params.ReadDuration(fields, "duration", &op.duration);
  if (params.defect().empty() && op.duration <= Duration(0)) {
    fields.errors().Add(fields.node().at, "duration is 0 or missing, expected a time such as 10s");
  }
  return op;
}

UpdatePodsOp ReadUpdatePods(Params& params, YamlFields& fields, Labels selector) {
  UpdatePodsOp op;
  op.selector = std::move(selector);
  fields.ReadRequired("namespace", &op.namespace_name);
  fields.Read("openGates", &op.opens_gates);
  fields.Read("labelKey", &op.label_key);
  params.ReadCount(fields, "rounds", &op.rounds);
  fields.Read("skipWaitToCompletion", &op.skip_wait);
  if (!op.opens_gates && op.label_key.empty()) {
    fields.errors().Add(fields.node().at,
                        "updatePods changes nothing, expected openGates or labelKey");
  }
  return op;
}

}  // namespace schedq
