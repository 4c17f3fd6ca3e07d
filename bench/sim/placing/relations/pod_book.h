// Which pods count on which node, and what follows from it for others: the scheduler's knowledge
// behind host ports, affinity between pods, and topology spread.
//
// Purpose: pods are counted by class (pod_class.h) when they are assumed or delivered, so that an
// attempt looks a node up in counters instead of at pods. Counters are made for the terms that pods
// have, when the first pod that asks is to be placed. Until the first pod with a rule about others
// comes, the book only keeps which pod is where: scheduler_perf's pods have a label of their own
// each, so that to look a class up costs more than the rest of placing such a pod.
// When not to use it: for the room of nodes (node_ledger.h).
// Threads: all functions from any thread, under one lock, which is held for the time of a block's
// lookups at most. The functions whose names begin with Any take none.
// Invariants:
//  1. A pod counts on at most one node.
//  2. PutWhereAllowed counts a pod only where its rules and those of all others allow it then.
//  3. While the book keeps only places it has no class, counter or holder.
// Cost: of an attempt the terms that concern its pod times the nodes that it looks at; of a pod
// that comes or goes the counters that count it; of a new term once the classes and the nodes.
// Memory: a record a pod, class, node and counter. Classes without pods and counters that nobody
// asks for are dropped when they are many.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/relations/class_plan.h"
#include "bench/sim/placing/relations/counter_table.h"
#include "bench/sim/placing/relations/pod_class.h"
#include "bench/sim/placing/relations/pod_counter.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

class PodBook {
 public:
  PodBook() = default;
  PodBook(const PodBook&) = delete;
  PodBook& operator=(const PodBook&) = delete;

  // --- What the cluster says.

  // A node that is new or changed, by its slot of the ledger; null: it is gone.
  void SetNode(uint32_t slot, const ClusterNodeRef& node);
  // A namespace that is new or changed. Null: it is gone.
  void SetNamespace(const std::string& name, const Labels* labels);

  // --- Where pods count. `place` tells a pod's places apart; a later one replaces an earlier one.

  void Put(const ClusterPodRef& pod, uint32_t slot, uint64_t place);
  // False: what other threads have put meanwhile does not allow it, and nothing has changed.
  bool PutWhereAllowed(const ClusterPodRef& pod, uint32_t slot, uint64_t place);
  // Ends that place, unless a later one has replaced it.
  void Drop(uint64_t pod_slot, uint64_t place);

  // --- What plugins ask.

  // Whether any pod holds a term about others: that keeps them away; that prefers.
  bool AnyKeepsAway() const { return keeps_away_.load(std::memory_order_relaxed); }
  bool AnyPrefers() const { return prefers_.load(std::memory_order_relaxed); }

  PodClassRef ClassOf(const ClusterPod& pod);
  // Whether terms of pods on nodes, or its own, concern pods of the class.
  bool HasNeighbourTerms(const PodClassRef& pods);
  // Those of `candidates`, a mask of the block's nodes, that pass. A node that the book does not
  // know as the columns do passes none.
  uint64_t WithFreePorts(const PodClassRef& pods, const NodeColumns& nodes, size_t block,
                         uint64_t candidates);
  uint64_t WithNeighbours(const PodClassRef& pods, const NodeColumns& nodes, size_t block,
                          uint64_t candidates);
  uint64_t WithEvenSpread(const PodClassRef& pods, const NodeColumns& nodes, size_t block,
                          uint64_t candidates);
  // Whether the node would pass if it were changed so.
  bool WouldHaveFreePorts(const PodClassRef& pods, const NodeColumns& nodes, uint32_t slot,
                          const NodeChange& change);
  bool WouldHaveNeighbours(const PodClassRef& pods, const NodeColumns& nodes, uint32_t slot,
                           const NodeChange& change);
  bool WouldHaveEvenSpread(const PodClassRef& pods, const NodeColumns& nodes, uint32_t slot,
                           const NodeChange& change);
  // For each of these nodes the weights of what pods of the class, and others, prefer there; what
  // others require counts `required_weight` times. False: nobody prefers anything.
  bool Prefer(const PodClassRef& pods, std::span<const uint32_t> slots, std::span<int64_t> weights,
              int64_t required_weight = 1);
  // For each of these nodes how many pods of the like of the class are there already, weighted over
  // the rules that do not reject; negative: the node does not have all of the labels. False: there
  // are no such rules.
  bool CountLikes(const PodClassRef& pods, std::span<const uint32_t> slots,
                  std::span<int64_t> counts);

 private:
  // Where a pod counts: as one of a class, or by itself while the book keeps only places. Neither:
  // nowhere.
  struct Record {
    PodClassRef pods;
    ClusterPodRef alone;
    uint32_t slot = 0;
    uint64_t place = 0;
  };
  struct OnNode {
    PodClassRef pods;
    int64_t count = 0;
  };
  // A term that some pods hold about others.
  struct Holder {
    const PodCounter* counter = nullptr;
    PodTerm term;
    std::string namespace_name;
    int64_t weight = 0;
    bool is_required = false;
  };
  static constexpr size_t kRecent = 64;

  // Whether the book only keeps the place of such a pod, as it does of all until now.
  bool OnlyKeepsPlaceOf(const ClusterPod& pod) const;
  // From here on pods are counted by class, those too that came before.
  void CountByClass();
  PodClassRef FindClass(const ClusterPod& pod);
  PodClassRef AddClass(const ClusterPod& pod, std::string key);
  void AddHolders(const PodClass& pods);
  PodCounter* GetCounter(const std::string& key, const std::string& topology_key,
                         const CounterTable::Nodes& nodes, PodCounter::Kind kind);
  void CountAll(PodCounter* counter);
  const ClassPlan& PlanOf(const PodClassRef& pods);
  void PlanNeighbours(const PodClass& pods, ClassPlan* plan);
  void PlanSpread(const PodClass& pods, bool required, ClassPlan* plan);
  bool Allows(const PodClassRef& pods, uint32_t slot);
  bool HasFreePorts(const PodClass& pods, uint32_t slot) const;
  const Labels& LabelsOf(const std::string& namespace_name);
  bool IsSelected(const PodTerm& term, const std::string& holder_namespace, const Pod& pod);

  void Change(const Record& record, int64_t sign);
  void CountOnNode(uint32_t slot, int64_t sign);
  Record& RecordOf(uint64_t pod_slot);
  void PutAlone(const ClusterPodRef& pod, uint32_t slot, uint64_t place);
  void PutInClass(const ClusterPod& pod, const PodClassRef& pods, uint32_t slot, uint64_t place);
  // Makes all counters anew, and drops classes without pods.
  void Rebuild();

  template <typename Passes>
  static uint64_t Pass(const NodeColumns& nodes, const CounterTable& known, size_t block,
                       uint64_t candidates, Passes passes);
  // With the change counted as long as `passes` is asked.
  template <typename Passes>
  bool PassesChanged(const NodeColumns& nodes, uint32_t slot, const NodeChange& change,
                     Passes passes);

  std::mutex mutex_;  // Guards all members but the two atomics.
  // Written under the lock. Relaxed: a thread that does not see a term yet is caught by
  // PutWhereAllowed.
  std::atomic<bool> keeps_away_{false};
  std::atomic<bool> prefers_{false};
  std::unordered_map<std::string, PodClassRef> classes_;  // By key.
  std::array<PodClassRef, kRecent> recent_;               // By a pod's object.
  std::vector<Record> pods_;                              // By pod slot.
  std::vector<std::vector<OnNode>> on_nodes_;             // By node slot.
  CounterTable counters_;
  std::vector<Holder> holders_;
  std::map<std::string, Labels> namespaces_;
  size_t live_classes_ = 0;  // Those with pods.
  size_t node_changes_ = 0;  // Since the last Rebuild.
  uint64_t generation_ = 1;
  bool asks_for_namespaces_ = false;  // A term selects namespaces by their labels.
  bool counts_by_class_ = false;
};

}  // namespace schedq
