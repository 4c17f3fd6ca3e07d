// The ResourceClaim controller: makes the claims that pods want generated, and cleans up after pods
// that are gone.
//
// Purpose: a pod that names a claim template gets a claim of its own, and its status says which.
// When a pod goes, its reservations go; a claim that nobody reserves any more gives its devices
// back; a claim that was generated for the pod is deleted (kube's garbage collector's part).
// How: work items by pod, taken by a fixed number of workers in the order in which they came. Each
// API call takes the latency that the options say; calls of one item follow one another.
// Threads: one, that which advances the clock.
// Memory: one record a waiting item, and for pods that use claims a list of their claims.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"

namespace schedq {

struct ClaimControllerOptions {
  int workers = 1;
  std::function<Duration()> call_latency;  // Of the next API call.
};

class ClaimController {
 public:
  // Watches `cluster`, which outlives it.
  ClaimController(Cluster* cluster, ClaimControllerOptions options);

 private:
  // One API call; false: nothing to do, which takes no time.
  using Call = std::function<bool()>;

  void OnChange(const ClusterChange& change);
  void GenerateClaims(const ClusterPod& pod);
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

// The claims of the pod that exist by name: those of its spec, then those generated for it.
std::vector<std::string> ClaimNamesOf(const Pod& pod);

}  // namespace schedq
