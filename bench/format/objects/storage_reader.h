// Reads objects of storage, and the volumes of pods.
#pragma once

#include "bench/format/objects/storage_objects.h"
#include "bench/format/workload/features.h"
#include "bench/format/yaml/yaml_node.h"
#include "bench/format/yaml/yaml_reader.h"
#include "engine/pod.h"
#include "engine/pod_volumes.h"

namespace schedq {

// Each adds an error to `errors` where the value is malformed.
PersistentVolumeObject ReadPersistentVolumeBody(YamlErrors& errors, const YamlNode& spec);
PersistentVolumeClaimObject ReadPersistentVolumeClaimBody(YamlErrors& errors, const YamlNode& spec);
StorageClassObject ReadStorageClassBody(YamlFields& fields);
CsiNodeObject ReadCsiNodeBody(YamlErrors& errors, const YamlNode* spec, const Labels& annotations);

// The list is a pod's spec.volumes; null: there is none.
PodVolumes ReadPodVolumes(YamlErrors& errors, const YamlNode* list, FeatureUses& features);

}  // namespace schedq
