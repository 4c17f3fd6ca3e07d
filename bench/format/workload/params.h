// The parameters of one workload while its operations are decoded: finds, converts, and remembers
// which were read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "bench/format/template/value.h"
#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/base/time/time.h"

namespace schedq {

class Params {
 public:
  // `params` may be null: none.
  Params(YamlErrors& errors, const YamlNode* params);

  // The fields that come as `x` or, in place of it, as `xParam: $name`. An unknown name is a defect
  // of this workload only; a value of the wrong type is an error of the file.
  void ReadCount(YamlFields& fields, std::string_view key, int64_t* out);
  void ReadBool(YamlFields& fields, std::string_view key, bool* out);
  void ReadDuration(YamlFields& fields, std::string_view key, Duration* out);
  // Only as `key: $name`; nullopt when absent.
  std::optional<int64_t> ReadCountParam(YamlFields& fields, std::string_view key);

  // templateParams: values that begin with $ stand for parameters, `$x|text` with a default.
  ValueMap ReadTemplateParams(YamlFields& fields);

  // Adds an error for the first parameter that nothing read. A parameter that scheduler_perf's Go
  // code is known to read is noted as a feature instead.
  void CheckAllRead(FeatureUses& features);

  // Why this workload cannot run although its file is good; empty: it can.
  const std::string& defect() const { return defect_; }

 private:
  struct Param {
    Value value;
    TextPosition at;
    bool was_read = false;
  };

  const Param* Find(const std::string& name, TextPosition at);
  // The parameter that `<key>Param` names, or nullptr.
  const Param* FindReference(YamlFields& fields, const std::string& key);
  std::optional<int64_t> ToCount(const Param& param, std::string_view key);
  Value ResolveTemplateParam(const YamlNode& node);
  void Mismatch(const Param& param, const std::string& expected);

  YamlErrors& errors_;
  std::map<std::string, Param> params_;
  std::string defect_;
};

}  // namespace schedq
