// Decides which node a pod goes to: one for each scheduling thread.
//
// Purpose: kube-scheduler's cycle of PreFilter, Filter and Score, written once for both clocks.
// Nodes are looked at from where the last attempt stopped, until enough of them are feasible
// (NodesToFind). The one with the highest score is taken, and of several one at random, as
// kube-scheduler does: the first of them would always fill up before the others. The node to which
// the pod is nominated is tried before all others, then one that the search of a pod like it left.
// A node keeps room for the pods that are nominated to it and go before the pod (nominations.h).
// Where no node passes, PostFilter says what can be done.
// Threads: one; placers of several threads share a cache.
// Cost: the nodes that are looked at, 64 at a time.
// Memory: a copy of all nodes (node_columns.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/decision.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/placing/groups/placement.h"
#include "bench/sim/placing/node_change.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/room_scores.h"
#include "bench/sim/placing/scheduler_cache.h"
#include "bench/sim/placing/shared_search.h"
#include "engine/base/random.h"

namespace schedq {

// The number of feasible nodes after which an attempt stops its search: all of `nodes` below 100,
// else `percentage` of them; where that is 0, 50 % to 5 %, a smaller share in larger clusters. At
// least 100.
size_t NodesToFind(size_t nodes, size_t percentage = 0);

class Placer {
 public:
  // `cache` outlives it. Placers of one random stream decide alike.
  explicit Placer(const SchedulerCache* cache, const Random& random = Random(0))
      : Placer(cache, cache->framework(), random) {}
  Placer(const SchedulerCache* cache, const Framework& framework, const Random& random);

  // In a cycle of a group.
  struct Scope {
    const GroupPlacement* placement = nullptr;  // Null: all nodes.
    // The numbers of its members that are assumed: their nominations count no more. Null: it is no
    // cycle of a group. In one PostFilter is not asked.
    const std::unordered_set<uint64_t>* assumed = nullptr;
    PlacingTime time = {};     // In a cycle of a group only `now`.
    uint64_t group_cycle = 0;  // The number of such a cycle.
  };

  // Decides without changing the cache, by what the cache has now.
  Decision Decide(const ClusterPod& pod) { return Decide(pod, Scope()); }
  Decision Decide(const ClusterPod& pod, const Scope& scope);
  // The same of that node alone, in whatever placement it is.
  Decision DecideOn(const ClusterPod& pod, const std::string& node, const Scope& scope);

  // Adds to `faults` where DefaultPreemption has chosen against its rule (victim_audit.h). Only
  // where no other thread changes the cluster.
  void AuditVictims(std::vector<std::string>* faults) { faults_ = faults; }

  // The thread's copy, as of the last decision or call.
  const NodeColumns& Nodes() {
    nodes_.Refresh();
    return nodes_;
  }

 private:
  class Search;

  // A node by its score and its place in the attempt's random order.
  struct Candidate {
    int64_t score;
    uint32_t order;

    bool IsBetterThan(const Candidate& other) const {
      return score != other.score ? score > other.score : order < other.order;
    }
  };
  // The place of a slot in that order, and the slot at a place. Halves of the slots change places,
  // halves of halves, and so on, so that the order of nodes that are neighbours is random too.
  uint32_t Turned(uint32_t slot_or_order) const { return slot_or_order ^ turn_; }

  // False: a plugin rejects every node.
  bool PreFilter(PlacingAttempt* attempt, Decision* decision);
  // Whether the node passes, and is taken.
  bool TakeIfPasses(const PlacingAttempt& attempt, const std::string& node, Decision* decision);
  // Whether the node passes all filters.
  bool Passes(const PlacingAttempt& attempt, uint32_t slot) const;
  // Of the block, and of all, those that the attempt may look at.
  uint64_t KnownIn(size_t block) const;
  size_t NodesInScope() const;
  // The best node that an earlier pod's search left (shared_search.h). False: none serves.
  bool TakeShared(PlacingAttempt* attempt, Decision* decision);
  // The node of the last pod takes this one too: it competes with what its search left.
  void RankAgain(PlacingAttempt* attempt);
  // What the search found beside the node that it took may serve the next pod.
  void ShareSearch();
  // The candidates' slots, the worst first. There are no candidates afterwards.
  std::vector<uint32_t> TakeRanking();
  void LookAtNodes(PlacingAttempt* attempt, Decision* decision);
  // The feasible nodes of a block.
  uint64_t Filter(const PlacingAttempt& attempt, size_t block, Decision* decision) const;
  // Takes the best feasible node that passes what is asked of one node at a time. False: none does.
  bool TakeBest(PlacingAttempt* attempt, Decision* decision);
  // The feasible nodes become candidates: all where nodes are asked one at a time or are related to
  // each other, else the best.
  void Rank(PlacingAttempt* attempt);
  // Adds what plugins say of the candidates beyond their room.
  void AddScores(const PlacingAttempt& attempt);
  bool PassesAlone(const PlacingAttempt& attempt, uint32_t slot, Decision* decision) const;
  // Of the node with the change; null: it passes.
  const Framework::Numbered* RejectorOf(const PlacingAttempt& attempt, uint32_t slot,
                                        const NodeChange& change) const;
  // The pods that are nominated to the node and go before the attempt's come to it.
  void AddNominated(const PlacingAttempt& attempt, uint32_t slot, NodeChange* change) const;
  // nullopt: there is no such node among the thread's.
  std::optional<uint32_t> SlotOf(const std::string& node) const;
  void Take(uint32_t slot, Decision* decision) const;
  void PostFilter(const PlacingAttempt& attempt, Decision* decision);
  void Audit(const FailedSearch& search, const PostFilterResult& result) const;
  // Whether the room of the node has changed since the attempt began. Refreshes the columns.
  bool HasChangedSince(const std::string& node);

  // What the plugins say of the node that was chosen. False: what the pod would get is gone.
  bool Choose(const PlacingAttempt& attempt, Decision* decision) const;

  // The feasible nodes of a block, not empty.
  struct Feasible {
    size_t block;
    uint64_t nodes;
  };

  size_t Wanted() const { return NodesToFind(NodesInScope(), percentage_); }

  const SchedulerCache& cache_;
  const Framework& framework_;
  const size_t percentage_;
  NodeColumns nodes_;
  RoomScores room_scores_{&nodes_, framework_};
  Random random_;
  size_t next_block_ = 0;
  Scope scope_;        // Of the attempt.
  uint32_t turn_ = 0;  // Of the attempt's random order.
  SharedSearch shared_;
  std::vector<std::string>* faults_ = nullptr;  // Null: nobody audits.
  // Of the attempt.
  std::vector<Framework::Numbered> asked_;        // Those that filter.
  std::vector<Framework::Numbered> asked_alone_;  // Those that filter one node.
  std::vector<Framework::Numbered> scorers_;      // Those that score beyond room.
  bool is_hopeless_ = false;                      // PreFilter has rejected all nodes.
  bool asks_alone_ = false;                       // Nodes may be asked one at a time.
  std::optional<std::string> signature_;          // Of the pod; nullopt: it shares no search.
  std::vector<Feasible> feasible_;                // None of them asked alone yet.
  std::vector<Candidate> candidates_;             // Of these.
  std::vector<uint32_t> slots_;                   // Of the candidates, for the scorers.
  std::vector<int64_t> scores_;                   // One scorer's, of these.
};

}  // namespace schedq
