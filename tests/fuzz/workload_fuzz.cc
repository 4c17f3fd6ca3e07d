#include "tests/fuzz/workload_fuzz.h"

#include <algorithm>
#include <string>
#include <variant>

#include "bench/format/objects/object_template.h"
#include "bench/format/objects/quantity.h"
#include "bench/format/template/value.h"
#include "bench/format/workload/decoder.h"
#include "bench/format/workload/go_duration.h"
#include "bench/format/yaml/yaml_parser.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

constexpr size_t kInputBytesMax = 64u << 10;  // Larger inputs would test only their size.

std::string TextOf(const uint8_t* data, size_t size) {
  return std::string(reinterpret_cast<const char*>(data), std::min(size, kInputBytesMax));
}

// Checks that the error is a line that names a place. Returns false, for its callers to return.
bool CheckMessage(const Error& error) {
  SCHEDQ_CHECK(!error.message().empty(), "an error says something");
  SCHEDQ_CHECK(error.message().find(':') != std::string::npos, "an error names a place");
  return false;
}

}  // namespace

bool FuzzYaml(const uint8_t* data, size_t size) {
  const std::string text = TextOf(data, size);
  const auto parsed = ParseYaml(text);
  if (const auto* problem = std::get_if<YamlProblem>(&parsed)) {
    SCHEDQ_CHECK(!problem->what.empty() && problem->at.line > 0, "a problem has text and place");
    return false;
  }
  const auto costs = ParseCostModel("fuzz.yaml", text);
  if (!costs) CheckMessage(costs.error());
  return costs.ok();
}

bool FuzzWorkloadFile(const uint8_t* data, size_t size) {
  const std::string text = TextOf(data, size);
  const auto cases =
      DecodeWorkloadFile("fuzz.yaml", [&text](const std::string&) { return Result(text); });
  if (!cases) CheckMessage(cases.error());
  (void)ParseGoDuration(text);
  (void)Quantity::Parse(text);
  return cases.ok();
}

bool FuzzTemplate(const uint8_t* data, size_t size) {
  const auto compiled = ObjectTemplate::Compile("fuzz.yaml", TextOf(data, size));
  if (!compiled) return CheckMessage(compiled.error());
  const ValueMap params = {{"b", Value(true)},
                           {"f", Value(2.5)},
                           {"l", Value(ValueList{Value(1.0), Value(std::string("x"))})},
                           {"m", Value(ValueMap{{"k", Value(3.0)}})},
                           {"s", Value(std::string("text"))}};
  ObjectRenderer renderer({*compiled, params}, 3);
  for (int64_t index = 0; index < 2; ++index) {
    const auto object = renderer.Render(index);
    if (!object) return CheckMessage(object.error());
  }
  return true;
}

}  // namespace schedq
