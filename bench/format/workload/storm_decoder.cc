#include "bench/format/workload/storm_decoder.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/format/workload/fault.h"
#include "bench/format/yaml/yaml_node.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"

namespace schedq {

ApiOutageOp ReadApiOutage(Params& params, YamlFields& fields) {
  ApiOutageOp op;
  params.ReadDuration(fields, "duration", &op.duration);
  if (params.defect().empty() && op.duration <= Duration(0)) {
    fields.errors().Add(fields.node().at, "duration is 0 or missing, expected a time such as 10s");
  }
  return op;
}

InjectFaultOp ReadInjectFault(Params& params, YamlFields& fields) {
  InjectFaultOp op;
  Fault& fault = op.fault;
  YamlErrors& errors = fields.errors();
  const TextPosition at = fields.node().at;
  std::string name;
  if (fields.ReadRequired("fault", &name)) {
    const std::optional<FaultKind> kind = ParseFaultKind(name);
    if (!kind) {
      errors.Add(at, fmt::format("fault is \"{}\", expected one of {}", name,
                                 fmt::join(kFaultKindNames, ", ")));
    }
    fault.kind = kind.value_or(FaultKind::kErrors);
  }
  params.ReadCount(fields, "percent", &fault.percent);
  std::vector<std::string> calls;
  fields.Read("calls", &calls);
  for (const std::string& call : calls) {
    const std::optional<uint32_t> bit = ParseCallKind(call);
    if (!bit) {
      errors.Add(at, fmt::format("calls has \"{}\", expected some of {}", call,
                                 fmt::join(kCallKindNames, ", ")));
    }
    fault.calls |= bit.value_or(0);
  }
  if (std::string of; fields.Read("of", &of)) {
    const std::optional<Resource> kind = ParseLaggingKind(of);
    if (!kind) {
      errors.Add(at, fmt::format("of is \"{}\", expected one of {}", of, LaggingKindNames()));
    }
    fault.of = kind.value_or(Resource::kWildcard);
  }
  params.ReadDuration(fields, "delay", &fault.delay);
  params.ReadDuration(fields, "jitter", &fault.jitter);
  params.ReadDuration(fields, "after", &fault.after);
  params.ReadDuration(fields, "duration", &fault.duration);
  if (!params.defect().empty()) return op;
  if (const Status checked = CheckFault(fault); !checked) errors.Add(at, checked.error().message());
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
