#include "bench/format/workload/given_params.h"

#include <cstddef>
#include <variant>

#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_parser.h"

namespace schedq {

Result<GivenParams> GivenParams::Parse(const std::vector<std::string>& texts) {
  GivenParams given;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (name.empty() || equals == std::string::npos || equals + 1 == text.size()) {
      return Error("--param " + text + ": expected NAME=VALUE");
    }
    auto parsed = ParseYaml(text.substr(equals + 1));
    const auto* const node = std::get_if<YamlNode>(&parsed);
    if (node == nullptr || node->kind != YamlKind::kScalar) {
      return Error("--param " + text + ": expected a number, a truth value or a text");
    }
    if (!given.values_.emplace(name, ValueFromYaml(*node)).second) {
      return Error("--param " + text + ": " + name + " is said before, expected each once");
    }
  }
  return given;
}

const Value* GivenParams::Find(const std::string& name) {
  const auto found = values_.find(name);
  if (found == values_.end()) return nullptr;
  used_.insert(name);
  return &found->second;
}

Status GivenParams::CheckAllUsed() const {
  for (const auto& [name, value] : values_) {
    if (used_.count(name) != 0) continue;
    return Error("--param " + name + ": no workload of the files has such a parameter");
  }
  return Status::Ok();
}

}  // namespace schedq
