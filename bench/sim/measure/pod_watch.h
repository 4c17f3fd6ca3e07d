// The pods that the informers have delivered, with counters for the conditions that workloads wait
// for.
//
// Purpose: "wait until N pods of this namespace are scheduled", throughput, and listing.
// Threads: one, the one that advances the clock.
// Cost: a change updates each registered counter, without a scan.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/pod.h"

namespace schedq {

// The pods of these namespaces (empty: all) with these labels.
struct PodSelection {
  std::set<std::string> namespaces;
  Labels selector;

  bool Has(const Pod& pod) const;
};

class PodWatch {
 public:
  // Counts pods from its construction to its destruction.
  class Counter {
   public:
    Counter(PodWatch* watch, PodSelection selection);
    ~Counter();
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;

    int64_t scheduled() const { return scheduled_; }  // Pods on a node.
    int64_t attempted() const { return attempted_; }  // Pods with a condition but no node.

   private:
    friend class PodWatch;
    void Add(const ClusterPod& pod, int64_t sign);

    PodWatch* const watch_;
    const PodSelection selection_;
    int64_t scheduled_ = 0;
    int64_t attempted_ = 0;
  };

  using Listener = std::function<void(const ClusterPod& pod)>;

  explicit PodWatch(Cluster* cluster);

  // The listener is called for each pod that got its node. A key has one listener at a time.
  void ListenToScheduled(const std::string& key, Listener listener) {
    listeners_[key] = std::move(listener);
  }
  void StopListening(const std::string& key) { listeners_.erase(key); }

  // Pods that got a node since the start.
  uint64_t bound() const { return bound_; }
  // Whether the informers have delivered the pod, and not its deletion.
  bool Has(uint64_t number) const { return pods_.Find(number) != nullptr; }
  // The selected pods, in order of creation.
  std::vector<ClusterPodRef> List(const PodSelection& selection) const;

 private:
  void OnChange(const ClusterChange& change);

  PodTable pods_;
  uint64_t bound_ = 0;
  std::list<Counter*> counters_;
  std::map<std::string, Listener> listeners_;
};

}  // namespace schedq
