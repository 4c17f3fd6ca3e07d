// The ResourceClaim controller: generates claims for pods, and cleans up after deleted pods.
//
// Purpose: a pod that names a claim template gets a claim of its own, which its status names. After
// a pod's deletion the controller removes the pod's reservations. A claim without reservations
// loses its devices, and by a further call its finalizer. A claim that was generated for the pod is
// deleted beside that by kube's garbage collector, whose only worker reads it first. Where the
// finalizer is still there, its end is the claim's.
// Method: a work item a pod (work_queue.h). What was generated for a pod that has gone meanwhile is
// deleted by the same item.
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
#include "engine/pod.h"

namespace schedq {

struct ClaimControllerOptions {
  int workers = 1;
  std::function<Duration()> call_latency;  // Draws the latency of the next API call.
};

class ClaimController {
 public:
  // Watches `cluster`, which outlives it.
  ClaimController(Cluster* cluster, const ClaimControllerOptions& options);

 private:
  using Call = WorkQueue::Call;

  void OnChange(const ClusterChange& change);
  // The claims that a pod or a group is to get from templates.
  struct Order {
    std::vector<PodClaim> wanted;
    std::function<bool()> has_owner;
    // Null: there is no such template.
    std::function<std::shared_ptr<ClusterClaim>(const PodClaim&)> make;
    std::function<bool(const std::vector<GeneratedClaim>&)> tell_owner;
    std::function<void(const std::vector<GeneratedClaim>&)> clean_up;
    std::vector<GeneratedClaim> made;
    bool has_failed = false;
    Duration backoff;  // Before the next attempt, if this one fails.
  };
  using OrderRef = std::shared_ptr<Order>;

  // Tries again, later and later, what fails: a template may come after what needs it.
  void Generate(const OrderRef& order);
  bool MakeClaim(Order* order, const PodClaim& wanted);
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
  // What a claim loses when `release` has removed a reservation. False: there is no such claim.
  bool Release(const std::string& name, const std::function<void(ClusterClaim*)>& release);
  bool RemoveFinalizer(const std::string& name);
  // The garbage collector deletes the claim if it belongs to what has gone.
  void Collect(const std::string& name, std::function<bool(const ClusterClaim&)> is_garbage);

  Cluster* const cluster_;
  WorkQueue work_;
  WorkQueue garbage_;
};

// The names of the pod's claims: those of its spec, then those that were generated for it, then the
// one that the scheduler has made for its extended resources. Each once.
std::vector<std::string> ClaimNamesOf(const ClusterPod& pod);
// Those of them that are the pod's group's.
std::vector<std::string> GroupClaimNamesOf(const ClusterPod& pod);
// The name of the claim that the scheduler makes for a pod's extended resources.
std::string ExtendedClaimName(const ClusterPod& pod);

}  // namespace schedq
