// The meaning of a plain scalar by the rules of the YAML reader that scheduler_perf uses (YAML 1.1:
// yes and on are booleans, 0x10 and 010 are numbers).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "bench/format/yaml/yaml_node.h"

namespace schedq {

// Each returns nullopt where the text is not of that type. A quoted scalar is always a string.
std::optional<bool> YamlBool(const YamlNode& node);
std::optional<int64_t> YamlInteger(const YamlNode& node);
std::optional<double> YamlNumber(const YamlNode& node);  // Integers too.

// Go's strconv.ParseFloat, without hexadecimal numbers, inf and nan. The whole text must be a
// number.
std::optional<double> ParseDecimal(std::string_view text);
// Go's strconv.Atoi.
std::optional<int64_t> ParseDecimalInteger(std::string_view text);

}  // namespace schedq
