// Reads what a pod's spec says of the nodes and pods that it goes with (PodRules).
#pragma once

#include <vector>

#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

// Each adds an error to `errors` where the value is malformed. Null: the field is absent.
LabelSelector ReadLabelSelector(YamlErrors& errors, const YamlNode& node);
void ReadAffinity(YamlErrors& errors, const YamlNode* node, PodRules* rules, FeatureUses& features);
void ReadSpread(YamlErrors& errors, const YamlNode* list, PodRules* rules, FeatureUses& features);
// The ports of one container that are ports of the node; all are, where the pod uses its network.
void ReadHostPorts(YamlErrors& errors, const YamlNode* list, bool uses_node_network,
                   PodRules* rules, FeatureUses& features);

// Applies matchLabelKeys and mismatchLabelKeys of pod affinity for a pod with these labels, as the
// API server does when the pod is created.
void MergeLabelKeys(const Labels& labels, PodRules* rules);

}  // namespace schedq
