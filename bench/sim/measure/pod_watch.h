// The pods as the informers have told of them, counted as workloads wait for them.
//
// Purpose: "wait until N pods of this namespace are scheduled", throughput, and listing.
// Threads: one, that which advances the clock.
// Cost: a change updates each counter that is registered; nothing scans.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/sim/cluster/cluster.h"

namespace schedq {

// Which pods: of these namespaces (none: all), with these labels.
struct PodSelection {
  std::set<std::string> namespaces;
  Labels selector;

  bool Has(const Pod& pod) const;
};

class PodWatch {
 public:
  // Counts pods from its making until its end.
  class Counter {
   public:
    Counter(PodWatch* watch, PodSelection selection);
    ~Counter();
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;

    int64_t scheduled() const { return scheduled_; }  // On a node.
    int64_t attempted() const { return attempted_; }  // Not on a node, but with a condition.

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

  // Called for each pod that got its node. One listener at a time for each key.
  void ListenToScheduled(const std::string& key, Listener listener) {
    listeners_[key] = std::move(listener);
  }
  void StopListening(const std::string& key) { listeners_.erase(key); }

  // In order of creation.
  std::vector<ClusterPodRef> List(const PodSelection& selection) const;

 private:
  void OnChange(const ClusterChange& change);

  std::map<uint64_t, ClusterPodRef> pods_;
  std::list<Counter*> counters_;
  std::map<std::string, Listener> listeners_;
};

}  // namespace schedq
