// The objects of workload files that tests of runs share.
#pragma once

namespace schedq {

inline constexpr const char* kNodeYaml =
    "apiVersion: v1\nkind: Node\nmetadata: {name: 'n{{.Index}}'}\n"
    "status: {capacity: {cpu: '4', memory: 32Gi, pods: '110'}}\n";
inline constexpr const char* kSmallPodYaml =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: pod-}\nspec:\n  containers:\n"
    "  - {name: c, image: i, resources: {requests: {cpu: '100m'}}}\n";
// No node holds it.
inline constexpr const char* kHugePodYaml =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: huge-}\nspec:\n  containers:\n"
    "  - {name: c, image: i, resources: {requests: {cpu: '1000'}}}\n";
// Two devices on each node, and the class that takes any of them.
inline constexpr const char* kDevicesYaml =
    "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: 's{{.Index}}'}\n"
    "spec: {driver: d, nodeName: 'n{{.Index}}', pool: {name: 'n{{.Index}}', generation: 1, "
    "resourceSliceCount: 1}, devices: [{name: a}, {name: b}]}\n";
inline constexpr const char* kClassYaml =
    "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: c}\n"
    "spec: {selectors: [{cel: {expression: 'device.driver == \"d\"'}}]}\n";
// A claim for one of them, and a pod that has one generated.
inline constexpr const char* kClaimTemplateYaml =
    "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\n"
    "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}\n";
inline constexpr const char* kClaimPodYaml =
    "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
    "  resourceClaims: [{name: d, resourceClaimTemplateName: t}]\n"
    "  containers: [{name: c, image: i}]\n";

}  // namespace schedq
