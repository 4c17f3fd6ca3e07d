// The list of pods in flight and of the events that came since the oldest of them was popped.
//
// Pods and events are in one list, in the order in which they came. The events that a pod must
// judge are those after it, and the end of the oldest pod frees the events up to the next pod.
// Guarded by the engine's mutex.
// Memory bound: one node for each pod in flight and for each event after the oldest of them.
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <utility>

#include "engine/logged_event.h"

namespace schedq {

class InFlightLog {
 private:
  struct Node {
    bool is_pod = false;
    LoggedEvent logged;
  };
  using Nodes = std::list<Node>;

 public:
  using Position = Nodes::iterator;

  Position Begin() {
    ++pods_;
    return nodes_.insert(nodes_.end(), Node{.is_pod = true, .logged = {}});
  }

  // Ends the pod at `position`; calls `dropped(label)` for each event that no pod needs any more.
  template <typename Dropped>
  void End(Position position, Dropped dropped) {
    nodes_.erase(position);
    --pods_;
    while (!nodes_.empty() && !nodes_.front().is_pod) {
      dropped(nodes_.front().logged.event.label);
      nodes_.pop_front();
    }
  }

  bool AnyPod() const { return pods_ != 0; }
  size_t pods() const { return pods_; }
  size_t events() const { return nodes_.size() - pods_; }

  void Append(LoggedEvent logged) {
    nodes_.push_back(Node{.is_pod = false, .logged = std::move(logged)});
  }

  // Calls `visit(const LoggedEvent&)` for each event after `position` until it returns false.
  template <typename Visit>
  void ForEachSince(Position position, Visit visit) const {
    for (auto node = std::next(position); node != nodes_.end(); ++node) {
      if (!node->is_pod && !visit(node->logged)) return;
    }
  }

 private:
  Nodes nodes_;
  size_t pods_ = 0;
};

}  // namespace schedq
