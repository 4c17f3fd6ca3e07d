#include "bench/format/workload/load_decoder.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "bench/format/template/value.h"
#include "bench/format/workload/load.h"
#include "bench/format/yaml/yaml_node.h"

namespace schedq {
namespace {

constexpr int64_t kDrawValuesMax = 1'000'000;
constexpr double kExponentMax = 10;

void ReadArrivals(Params& params, YamlErrors& errors, const YamlNode& node, Arrivals* arrivals) {
  YamlFields fields(errors, node, "arrivals");
  std::string process;
  fields.ReadRequired("process", &process);
  params.ReadCount(fields, "perSecond", &arrivals->per_second);
  if (process == "constant") {
    arrivals->process = ArrivalProcess::kConstant;
  } else if (process == "poisson") {
    arrivals->process = ArrivalProcess::kPoisson;
  } else if (process == "bursts") {
    arrivals->process = ArrivalProcess::kBursts;
    params.ReadCount(fields, "burst", &arrivals->burst);
  } else {
    errors.Add(node.at, "process is \"" + process + "\", expected constant, poisson or bursts");
  }
  if (params.defect().empty() && (arrivals->per_second < 1 || arrivals->burst < 1)) {
    errors.Add(node.at, "perSecond and burst of arrivals, expected at least 1 each");
  }
}

void ReadWeights(YamlErrors& errors, const YamlNode& list, Draw* draw) {
  draw->kind = Draw::Kind::kWeights;
  draw->values = static_cast<int64_t>(list.items.size());
  for (const YamlNode& item : list.items) {
    int64_t weight = 0;
    if (!ReadYaml(errors, item, "a weight", &weight)) return;
    if (weight < 0 || weight > kYamlCountMax) {
      errors.Add(item.at, "weight is " + std::to_string(weight) + ", expected 0 to " +
                              std::to_string(kYamlCountMax));
      return;  // Their sum may be beyond what a number holds.
    }
    draw->weights.push_back(weight);
  }
  const int64_t sum = std::accumulate(draw->weights.begin(), draw->weights.end(), int64_t{0});
  if (sum == 0) errors.Add(list.at, "the weights are all 0, expected one above 0");
}

Draw ReadDraw(Params& params, YamlErrors& errors, const YamlEntry& entry) {
  Draw draw;
  draw.name = entry.key;
  YamlFields fields(errors, entry.value, "the draw " + entry.key);
  const YamlNode* weights = fields.FindList("weights");
  params.ReadCount(fields, "uniform", &draw.values);
  const bool is_uniform = draw.values > 0;
  int64_t ranks = 0;
  params.ReadCount(fields, "zipf", &ranks);
  const int kinds = (weights != nullptr ? 1 : 0) + (is_uniform ? 1 : 0) + (ranks > 0 ? 1 : 0);
  if (kinds != 1) {
    if (params.defect().empty()) {
      errors.Add(entry.value.at, "the draw " + entry.key +
                                     " is none or several, expected one of uniform, zipf (above "
                                     "0) and weights");
    }
    return draw;
  }
  if (weights != nullptr) ReadWeights(errors, *weights, &draw);
  if (ranks > 0) {
    draw.kind = Draw::Kind::kZipf;
    draw.values = ranks;
    fields.Read("exponent", &draw.exponent);
    if (!(draw.exponent > 0 && draw.exponent <= kExponentMax)) {
      errors.Add(entry.value.at, "exponent of " + entry.key + ", expected above 0 and at most 10");
    }
  }
  if (draw.values > kDrawValuesMax) {
    errors.Add(entry.value.at, "the draw " + entry.key + " has " + std::to_string(draw.values) +
                                   " values, expected at most " + std::to_string(kDrawValuesMax));
  }
  return draw;
}

}  // namespace

void ReadLoad(Params& params, YamlFields& fields, CreatePodsOp* op) {
  YamlErrors& errors = fields.errors();
  if (const YamlNode* node = fields.FindMap("arrivals")) {
    ReadArrivals(params, errors, *node, &op->arrivals);
  }
  if (const YamlNode* node = fields.FindMap("draws")) {
    for (const YamlEntry& entry : node->entries) {
      if (op->pod.params.count(entry.key) != 0) {
        errors.Add(entry.value.at, entry.key + " is drawn and among templateParams, expected one");
      }
      op->draws.push_back(ReadDraw(params, errors, entry));
      op->pod.params[entry.key] = Value(int64_t{0});
    }
  }
  const bool has_load = op->arrivals.process != ArrivalProcess::kAtOnce || !op->draws.empty();
  if (op->steady_state && has_load) {
    errors.Add(fields.node().at,
               "arrivals or draws with steadyState, expected at most one of them");
  }
}

}  // namespace schedq
