// A value as Go's encoding/json and text/template see it: nil, bool, int, float64, string, list or
// map with sorted string keys.
//
// Purpose: parameters of workloads and all operands in a template are Values.
// Numbers of a workload file are floats, as they are in Go after JSON. Integer literals of a
// template, .Index, .Count and the results of the Int functions are ints. The difference matters in
// comparisons (eq 1 1.0 is an error) and in printing (1e+06).
// Threads: immutable once built; copies share their lists and maps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/format/yaml/yaml_node.h"

namespace schedq {

class Value;
using ValueList = std::vector<Value>;
using ValueMap = std::map<std::string, Value, std::less<>>;

class Value {
 public:
  Value() = default;  // nil
  explicit Value(bool value) : content_(value) {}
  explicit Value(int64_t value) : content_(value) {}
  explicit Value(double value) : content_(value) {}
  explicit Value(std::string value) : content_(std::move(value)) {}
  explicit Value(ValueList value);
  explicit Value(ValueMap value);

  bool IsNil() const { return std::holds_alternative<std::monostate>(content_); }
  const bool* AsBool() const { return std::get_if<bool>(&content_); }
  const int64_t* AsInt() const { return std::get_if<int64_t>(&content_); }
  const double* AsFloat() const { return std::get_if<double>(&content_); }
  const std::string* AsString() const { return std::get_if<std::string>(&content_); }
  const ValueList* AsList() const;
  const ValueMap* AsMap() const;

  // Go's name of the dynamic type: "float64", "string", "<nil>", ...
  std::string_view TypeName() const;
  // Go's truth of a value: it is not nil, not zero and not empty.
  bool Truth() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, std::shared_ptr<const ValueList>,
               std::shared_ptr<const ValueMap>>
      content_;
};

// Converts as Go decodes YAML into an `any`: numbers become floats.
Value ValueFromYaml(const YamlNode& node);

// Go's %v.
std::string FormatValue(const Value& value);
// Go's encoding/json without HTML escapes.
std::string ToJson(const Value& value);
// Go's strconv.Quote.
std::string QuoteString(std::string_view text);

}  // namespace schedq
