// Reads parts of the objects of dynamic resource allocation, for the files that read these.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/format/objects/quantity.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/object.h"

namespace schedq {

inline bool HasItems(const YamlNode* list) { return list != nullptr && !list->items.empty(); }

// A map of quantities, none of them negative, by name.
std::vector<std::pair<std::string, Quantity>> ReadAmounts(YamlErrors& errors, const YamlNode& node,
                                                          std::string_view what);
// One quantity, not negative. False, with an error: it is none.
bool ReadAmount(YamlErrors& errors, const YamlNode& node, std::string_view what, Quantity* out);

// The taint of a device.
Taint ReadDeviceTaint(YamlErrors& errors, const YamlNode& node);

}  // namespace schedq
