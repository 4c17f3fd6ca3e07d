// The ResourceClaim controller: generates claims for pods, and cleans up after deleted pods.
//
// Purpose: a pod that names a claim template gets a claim of its own, which its status names. After
// a pod's deletion the controller removes the pod's reservations. A claim without reservations
// loses its devices. A claim that was generated for the pod is deleted, which is the task of kube's
// garbage collector.
// Method: a fixed number of workers takes work items, one a pod, in the order in which they came.
// Each API call takes the latency of the options; calls of one item follow one another.
// Threads: one, the one that advances the clock.
// Memory: one record a waiting item, and for pods that use claims a list of their claims.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
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
  // Makes one API call. False: there was nothing to do, which takes no time.
  using Call = std::function<bool()>;

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
  void Enqueue(std::deque<Call> calls);
  void StartWorkers();
  void RunItem(std::deque<Call> calls);

  Cluster* const cluster_;
  const ClaimControllerOptions options_;
  std::deque<std::deque<Call>> waiting_;
  int idle_workers_;
};

// The names of the pod's claims: those of its spec, then those that were generated for it, then the
// one that the scheduler has made for its extended resources.
std::vector<std::string> ClaimNamesOf(const ClusterPod& pod);
// Those of them that are the pod's group's.
std::vector<std::string> GroupClaimNamesOf(const ClusterPod& pod);
// The name of the claim that the scheduler makes for a pod's extended resources.
std::string ExtendedClaimName(const ClusterPod& pod);

}  // namespace schedq
