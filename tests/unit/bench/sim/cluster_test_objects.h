// API objects for tests of the simulated cluster, written as YAML.
#pragma once

#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/object_template.h"
#include "bench/format/template/value.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/pod.h"

namespace schedq {

inline ApiObjectRef ObjectFrom(const std::string& yaml) {
  const auto object = ObjectTemplate::Literal("test", yaml)->Read(yaml, Value());
  SCHEDQ_CHECK(object.ok(), "a test's object is well-formed");
  return *object;
}

inline ApiObjectRef NodeObjectNamed(const std::string& name, const std::string& cpu = "4") {
  return ObjectFrom("apiVersion: v1\nkind: Node\nmetadata: {name: " + name +
                    "}\nstatus: {capacity: {pods: '10', cpu: '" + cpu +
                    "', memory: 32Gi}, conditions: [{type: Ready, status: 'True'}]}\n");
}

// `spec` holds the fields of the pod's spec besides its container.
inline ApiObjectRef PodObjectNamed(const std::string& name, const std::string& cpu = "100m",
                                   const std::string& spec = "") {
  return ObjectFrom("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n" + spec +
                    "  containers: [{name: c, image: i, resources: {requests: {cpu: " + cpu +
                    "}}}]\n");
}

// Records the informers' deliveries as "Pod+ ns/a", "Node~ b", "ResourceClaim- ns/c".
class ChangeLog {
 public:
  explicit ChangeLog(Cluster* cluster) {
    cluster->Watch([this](const ClusterChange& change) {
      changes_.push_back(change);
      const char* sign = change.action == Action::kAdd      ? "+ "
                         : change.action == Action::kDelete ? "- "
                                                            : "~ ";
      lines_.push_back(std::string(ResourceName(change.resource)) + sign + NameOf(change));
    });
  }

  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<ClusterChange>& changes() const { return changes_; }

 private:
  static std::string NameOf(const ClusterChange& change) {
    if (change.resource == Resource::kPod) {
      const ClusterPod& pod = *(change.pod_after ? change.pod_after : change.pod_before);
      return QualifiedName(pod.namespace_name, pod.name);
    }
    return QualifiedName(change.objects.Latest()->namespace_name, change.objects.Latest()->name);
  }

  std::vector<ClusterChange> changes_;
  std::vector<std::string> lines_;
};

}  // namespace schedq
