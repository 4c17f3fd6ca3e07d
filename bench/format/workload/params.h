// The parameters of one workload while its operations are decoded. Params finds and converts them,
// and remembers which were read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bench/format/template/value.h"
#include "bench/format/workload/given_params.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/base/time/time.h"

namespace schedq {

class Params {
 public:
  // A null `params` means that the workload has no parameters. `given` goes before them, and may be
  // null.
  Params(YamlErrors& errors, const YamlNode* params, GivenParams* given);

  // These read a field that is written as `x` or, in place of it, as `xParam: $name`. An unknown
  // name is a defect of this workload only; a value of the wrong type is an error of the file.
  void ReadCount(YamlFields& fields, std::string_view key, int64_t* out);
  void ReadBool(YamlFields& fields, std::string_view key, bool* out);
  void ReadDuration(YamlFields& fields, std::string_view key, Duration* out);
  // Reads a field that can only be written as `key: $name`; nullopt when absent.
  std::optional<int64_t> ReadCountParam(YamlFields& fields, std::string_view key);

  // Reads templateParams. A value that begins with $ stands for a parameter, `$x|text` for one with
  // a default.
  ValueMap ReadTemplateParams(YamlFields& fields);

  // A parameter that no field names, because scheduler_perf's Go code reads it; 0: it is not there.
  int64_t ReadOfGoCode(const std::string& name);

  // Adds an error for the first parameter that nothing read.
  void CheckAllRead();

  // The reason why this workload cannot run although its file is valid; empty: it can run.
  const std::string& defect() const { return defect_; }
  // Whether a parameter has another value than in the file.
  bool was_replaced() const { return was_replaced_; }

 private:
  struct Param {
    Value value;
    TextPosition at;
    bool was_read = false;
  };

  const Param* Find(const std::string& name, TextPosition at);
  // The parameter as given, else as in the file, else null.
  Param* FindIfThere(const std::string& name, TextPosition at);
  // The parameter that the field `<key>Param` names, or nullptr. Both `key` and `<key>Param` are an
  // error, because one of them would be dropped.
  const Param* FindReferenceFor(YamlFields& fields, std::string_view key);
  // The parameter that the field `key` names, or nullptr.
  const Param* FindReference(YamlFields& fields, const std::string& key);
  std::optional<int64_t> ToCount(const Param& param, std::string_view key);
  Value ResolveTemplateParam(const YamlNode& node);
  void AddMismatch(const Param& param, const std::string& expected);

  YamlErrors& errors_;
  GivenParams* const given_;
  std::map<std::string, Param> params_;
  std::string defect_;
  bool was_replaced_ = false;
};

}  // namespace schedq
