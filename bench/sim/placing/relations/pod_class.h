// Pods that scheduling cannot tell apart: of one namespace, with the same labels and the same
// rules.
//
// Threads: one at a time; the book's lock guards what changes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

class PodCounter;
struct ClassPlan;

struct PodClass {
  // What its pods have in common, without a name.
  Pod pod;
  bool is_terminating = false;  // Topology spread does not count such pods.
  std::string key;              // The same for pods of the same class only.
  uint64_t pods = 0;            // On nodes.
  // The terms that its pods hold about others, as keys (HeldTerms), sorted; one may stand twice.
  std::vector<std::string> held;
  // Counters that count its pods, once for each time.
  std::vector<PodCounter*> counted_by;
  std::unique_ptr<ClassPlan> plan;  // Made when a pod of the class is to be placed.

  PodClass();
  ~PodClass();
};
using PodClassRef = std::shared_ptr<PodClass>;

// Whether where the pod may go, or where others may, depends on which pods are there.
bool HasRulesAboutPods(const Pod& pod);

PodClassRef MakePodClass(const ClusterPod& pod);
bool IsOfClass(const ClusterPod& pod, const PodClass& pods);
std::string ClassKeyOf(const ClusterPod& pod);

// A term that a pod holds, and what it means for others that it selects.
struct HeldTerm {
  const PodTerm* term = nullptr;
  int64_t weight = 0;        // Of a preference for them; 0: it keeps them away.
  bool is_required = false;  // It is required affinity, whose weight the scheduler's profile says.
  std::string key;           // The same for equal terms of pods of one namespace only.
};
// Anti-affinity, both preferences, and required affinity, which is a preference too.
std::vector<HeldTerm> HeldTerms(const Pod& pod);

// The same for pods only that spread rules let count the same nodes, by affinity and tolerations.
std::string NodesKeyOf(const Pod& pod);

// Texts that are the same for equal values only, as parts of keys.
void AppendKey(std::string_view text, std::string* key);
void AppendKey(const LabelSelector& selector, std::string* key);
void AppendKey(const PodTerm& term, const std::string& holder_namespace, std::string* key);

}  // namespace schedq
