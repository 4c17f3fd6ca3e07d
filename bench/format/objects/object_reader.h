// From an object's YAML to an ApiObject.
//
// Strict: keys that the API does not know are errors, at the top of every object, in specs of pods
// and nodes, and wherever this reader looks.
#pragma once

#include <optional>

#include "bench/format/objects/api_object.h"
#include "bench/format/yaml/yaml_reader.h"

namespace schedq {

// An error lands in `errors`; the object is then of no use.
ApiObject ReadApiObject(YamlErrors& errors, const YamlNode& root);

// Parts, for their own files and tests.
ResourceList ReadResourceList(YamlErrors& errors, const YamlNode& node);
Labels ReadLabels(YamlErrors& errors, const YamlNode& node, std::string_view what);
PodObject ReadPodBody(YamlErrors& errors, const YamlNode* spec, FeatureUses& features);
NodeObject ReadNodeBody(YamlErrors& errors, const YamlNode* spec, const YamlNode* status);
std::vector<NodeTerm> ReadNodeSelector(YamlErrors& errors, const YamlNode& node);
ClaimSpec ReadClaimSpec(YamlErrors& errors, const YamlNode& spec, FeatureUses& features);
DeviceClassObject ReadDeviceClassBody(YamlErrors& errors, const YamlNode* spec,
                                      FeatureUses& features);
ResourceSliceObject ReadResourceSliceBody(YamlErrors& errors, const YamlNode& spec,
                                          FeatureUses& features);

// `device.driver == "x"`: x; nullopt for any other expression.
std::optional<std::string> DriverOfExpression(std::string_view expression);

}  // namespace schedq
