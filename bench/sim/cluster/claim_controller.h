// The ResourceClaim controller: generates claims for pods, and cleans up after deleted pods.
//
// Purpose: a pod that names a claim template gets a claim of its own, which its status names. After
// a pod's deletion the controller removes the pod's reservations. A claim without reservations
// loses its devices. A claim that was generated for the pod is deleted, which is the task of kube's
// garbage collector.
// Method: a work item a pod (work_queue.h).
// Threads: one, the one that advances the clock.
// Memory: the waiting items.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/work_queue.h"
#include "engine/base/time/time.h"

namespace schedq {

struct ClaimControllerOptions {
  int workers = 1;
  std::function<Duration()> call_latency;  // Draws the latency of the next API call.
};

class ClaimController {
 public:
  // Watches `cluster`, which outlives it.
  ClaimController(Cluster* cluster, ClaimControllerOptions options);

 private:
  using Call = WorkQueue::Call;

  void OnChange(const ClusterChange& change);
  void GenerateClaims(const ClusterPod& pod);
  void GenerateGroupClaims(const ClusterGroup& group);
  // Tells the members of the group's claims that have not heard of them.
  void TellMembers(const ClusterGroup& group);
  void CleanUpGroup(const ClusterGroup& group);
  // The claim of the template; null: there is no such template.
  std::shared_ptr<ClusterClaim> ClaimFrom(const std::string& namespace_name,
                                          const std::string& owner, const PodClaim& wanted) const;
  void CleanUp(const ClusterPod& pod);
  void CleanUpClaim(const std::string& name, uint64_t pod, std::deque<Call>* calls);

  Cluster* const cluster_;
  WorkQueue work_;
};

// The names of the pod's claims: those of its spec, then those that were generated for it, then the
// one that the scheduler has made for its extended resources.
std::vector<std::string> ClaimNamesOf(const ClusterPod& pod);
// Those of them that are the pod's group's.
std::vector<std::string> GroupClaimNamesOf(const ClusterPod& pod);
// The name of the claim that the scheduler makes for a pod's extended resources.
std::string ExtendedClaimName(const ClusterPod& pod);

}  // namespace schedq
