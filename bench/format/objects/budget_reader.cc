// Reads the spec of a PodDisruptionBudget.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_reader.h"
#include "bench/format/objects/rules_reader.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {
namespace {

constexpr size_t kDigitsMax = 9;
constexpr int64_t kWhole = 100;

// A number, or a percentage such as 30%.
std::optional<BudgetBound> ReadBound(YamlErrors& errors, YamlFields& fields, const char* key) {
  std::string text;
  const YamlNode* const node = fields.Find(key);
  if (node == nullptr || node->IsNull() || !ReadYaml(errors, *node, key, &text)) {
    return std::nullopt;
  }
  BudgetBound bound;
  std::string digits = text;
  bound.is_percent = !digits.empty() && digits.back() == '%';
  if (bound.is_percent) digits.pop_back();
  const bool is_number = !digits.empty() && digits.size() <= kDigitsMax &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  if (is_number) bound.value = std::stoll(digits);
  if (!is_number || (bound.is_percent && bound.value > kWhole)) {
    errors.Add(node->at, std::string(key) + " is \"" + text.substr(0, 60) +
                             "\", expected a number such as 2, or 0% to 100%");
  }
  return bound;
}

}  // namespace

DisruptionBudgetObject ReadDisruptionBudgetBody(YamlErrors& errors, const YamlNode& spec) {
  DisruptionBudgetObject body;
  YamlFields fields(errors, spec, "the disruption budget's spec");
  if (const auto* selector = fields.Find("selector"); selector != nullptr && !selector->IsNull()) {
    body.selector = ReadLabelSelector(errors, *selector);
  }
  body.min_available = ReadBound(errors, fields, "minAvailable");
  body.max_unavailable = ReadBound(errors, fields, "maxUnavailable");
  if (body.min_available && body.max_unavailable) {
    errors.Add(spec.at, "expected either minAvailable or maxUnavailable in a disruption budget");
  }
  // Of evictions, which nobody asks for here.
  fields.Ignore({"unhealthyPodEvictionPolicy"});
  return body;
}

}  // namespace schedq
