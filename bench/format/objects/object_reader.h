// Reads an API object from YAML.
//
// The reader is strict: an unknown key is an error at the top of every object, in specs of pods and
// nodes, and in every map that this reader reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/device_objects.h"
#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

// Adds an error to `errors` where the object is malformed; the result is then meaningless.
ApiObject ReadApiObject(YamlErrors& errors, const YamlNode& root);

// Readers of parts, for the files that implement them and for tests.
ResourceList ReadResourceList(YamlErrors& errors, const YamlNode& node);
Labels ReadLabels(YamlErrors& errors, const YamlNode& node, std::string_view what);
PodObject ReadPodBody(YamlErrors& errors, const YamlNode* spec, FeatureUses& features);
// The entries of resourceClaims, of a pod or a group.
std::vector<PodClaim> ReadPodClaims(YamlErrors& errors, const YamlNode* list);
NodeObject ReadNodeBody(YamlErrors& errors, const YamlNode* spec, const YamlNode* status);
// Of a pod or of a device request; `what` it is called in errors.
Toleration ReadToleration(YamlErrors& errors, const YamlNode& node, const char* what);
std::vector<NodeTerm> ReadNodeSelector(YamlErrors& errors, const YamlNode& node);
ClaimSpec ReadClaimSpec(YamlErrors& errors, const YamlNode& spec, FeatureUses& features);
DeviceClassObject ReadDeviceClassBody(YamlErrors& errors, const YamlNode* spec,
                                      FeatureUses& features);
DeviceTaintRuleObject ReadTaintRuleBody(YamlErrors& errors, const YamlNode& spec);
ResourceSliceObject ReadResourceSliceBody(YamlErrors& errors, const YamlNode& spec,
                                          const Labels& annotations, FeatureUses& features);

// Of a PodGroup, or of a composite.
PodGroupObject ReadPodGroupBody(YamlErrors& errors, const YamlNode& spec, bool is_composite,
                                FeatureUses& features);

DisruptionBudgetObject ReadDisruptionBudgetBody(YamlErrors& errors, const YamlNode& spec);

// Whether a preemptionPolicy says Never.
bool IsNever(YamlErrors& errors, TextPosition at, const std::string& policy);

// The image's name with the tag "latest" where it has none.
std::string WithTag(const std::string& image);

}  // namespace schedq
