#include "bench/format/workload/params.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <variant>

#include "bench/format/workload/go_duration.h"
#include "bench/format/yaml/yaml_parser.h"

namespace schedq {
namespace {

void ReadDurationText(YamlErrors& errors, TextPosition at, std::string_view key,
                      const std::string& text, Duration* out) {
  const auto duration = ParseGoDuration(text);
  constexpr Duration kDurationMax = std::chrono::hours(24 * 365);
  if (!duration || *duration < Duration(0) || *duration > kDurationMax) {
    errors.Add(at, std::string(key) + " is \"" + text.substr(0, 60) +
                       "\", expected a duration such as 10s or 1m30s, at most a year");
    return;
  }
  *out = *duration;
}

}  // namespace

Params::Params(YamlErrors& errors, const YamlNode* params, GivenParams* given)
    : errors_(errors), given_(given) {
  if (params == nullptr) return;
  if (params->kind != YamlKind::kMap) {
    errors_.Add(params->at, "params is " + std::string(YamlKindName(params->kind)) +
                                ", expected a map of values");
    return;
  }
  for (const YamlEntry& entry : params->entries) {
    params_[entry.key] = Param{ValueFromYaml(entry.value), entry.at};
  }
}

Params::Param* Params::FindIfThere(const std::string& name, TextPosition at) {
  const Value* const given = given_ != nullptr ? given_->Find(name) : nullptr;
  if (given != nullptr) {
    const auto [place, is_new] = params_.try_emplace(name, Param{*given, at});
    if (!is_new) {
      was_replaced_ = true;
      place->second.value = *given;
    }
  }
  const auto found = params_.find(name);
  if (found == params_.end()) return nullptr;
  found->second.was_read = true;
  return &found->second;
}

const Params::Param* Params::Find(const std::string& name, TextPosition at) {
  const Param* const found = FindIfThere(name, at);
  if (found == nullptr && defect_.empty()) {
    defect_ = errors_.Line(at, "parameter " + name + " is not defined, expected it in params");
  }
  return found;
}

const Params::Param* Params::FindReferenceFor(YamlFields& fields, std::string_view key) {
  const std::string reference = std::string(key) + "Param";
  const YamlNode* value = fields.Find(key);
  if (value != nullptr && fields.Find(reference) != nullptr) {
    errors_.Add(value->at, std::string(key) + " beside " + reference + ", expected one of them");
    return nullptr;
  }
  return FindReference(fields, reference);
}

const Params::Param* Params::FindReference(YamlFields& fields, const std::string& key) {
  std::string reference;
  const YamlNode* node = fields.Find(key);
  if (node == nullptr || !ReadYaml(errors_, *node, key, &reference)) return nullptr;
  if (reference.size() < 2 || reference[0] != '$') {
    errors_.Add(node->at, key + " is \"" + reference.substr(0, 60) + "\", expected $name");
    return nullptr;
  }
  return Find(reference.substr(1), node->at);
}

void Params::AddMismatch(const Param& param, const std::string& expected) {
  errors_.Add(param.at, "parameter is \"" + FormatValue(param.value).substr(0, 60) +
                            "\", expected " + expected);
}

std::optional<int64_t> Params::ToCount(const Param& param, std::string_view key) {
  const double* number = param.value.AsFloat();
  if (number == nullptr || *number <= -1 || *number > static_cast<double>(kYamlCountMax)) {
    AddMismatch(param, "0 to " + std::to_string(kYamlCountMax) + " for " + std::string(key));
    return std::nullopt;
  }
  return static_cast<int64_t>(*number);
}

void Params::ReadCount(YamlFields& fields, std::string_view key, int64_t* out) {
  if (const auto* param = FindReferenceFor(fields, key)) {
    if (const auto count = ToCount(*param, key)) *out = *count;
    return;
  }
  fields.ReadCount(key, out);
}

std::optional<int64_t> Params::ReadCountParam(YamlFields& fields, std::string_view key) {
  const auto* param = FindReference(fields, std::string(key));
  return param == nullptr ? std::nullopt : ToCount(*param, key);
}

void Params::ReadBool(YamlFields& fields, std::string_view key, bool* out) {
  fields.Read(key, out);
  if (const auto* param = FindReferenceFor(fields, key)) {
    if (const bool* value = param->value.AsBool()) {
      *out = *value;
    } else {
      AddMismatch(*param, "true or false for " + std::string(key));
    }
  }
}

void Params::ReadDuration(YamlFields& fields, std::string_view key, Duration* out) {
  std::string text;
  if (const YamlNode* node = fields.Find(key)) {
    if (ReadYaml(errors_, *node, key, &text)) ReadDurationText(errors_, node->at, key, text, out);
  }
  if (const auto* param = FindReferenceFor(fields, key)) {
    if (const std::string* value = param->value.AsString()) {
      ReadDurationText(errors_, param->at, key, *value, out);
    } else {
      AddMismatch(*param, "a duration such as 10s for " + std::string(key));
    }
  }
}

Value Params::ResolveTemplateParam(const YamlNode& node) {
  const bool is_reference =
      node.kind == YamlKind::kScalar && node.text.size() > 1 && node.text[0] == '$';
  if (!is_reference) return ValueFromYaml(node);
  const std::string name = node.text.substr(1);
  const size_t bar = name.find('|');
  if (bar == std::string::npos || bar == 0) {
    const Param* param = Find(name, node.at);
    return param == nullptr ? Value() : param->value;
  }
  const Param* const found = FindIfThere(name.substr(0, bar), node.at);
  if (found != nullptr) return found->value;
  auto parsed = ParseYaml(name.substr(bar + 1));
  if (const auto* problem = std::get_if<YamlProblem>(&parsed)) {
    errors_.Add(node.at, "the default after | is not YAML: " + problem->what);
    return Value();
  }
  return ValueFromYaml(std::get<YamlNode>(parsed));
}

ValueMap Params::ReadTemplateParams(YamlFields& fields) {
  ValueMap resolved;
  const YamlNode* node = fields.FindMap("templateParams");
  if (node == nullptr) return resolved;
  for (const YamlEntry& entry : node->entries) {
    resolved[entry.key] = ResolveTemplateParam(entry.value);
  }
  return resolved;
}

int64_t Params::ReadOfGoCode(const std::string& name) {
  if (params_.count(name) == 0) return 0;
  return ToCount(*FindIfThere(name, {}), name).value_or(0);
}

void Params::CheckAllRead() {
  const Param* first = nullptr;
  std::string_view first_name;
  for (const auto& [name, param] : params_) {
    if (param.was_read) continue;
    if (first != nullptr && first->at.line <= param.at.line) continue;
    first = &param;
    first_name = name;
  }
  if (first == nullptr) return;
  errors_.Add(first->at, "parameter " + std::string(first_name) +
                             " is never read, expected an operation that names $" +
                             std::string(first_name));
}

}  // namespace schedq
