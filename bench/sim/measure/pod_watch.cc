#include "bench/sim/measure/pod_watch.h"

#include <utility>

namespace schedq {

bool PodSelection::Has(const Pod& pod) const {
  if (!namespaces.empty() && namespaces.count(pod.namespace_name) == 0) return false;
  return MatchesSelector(pod.labels, selector);
}

PodWatch::Counter::Counter(PodWatch* watch, PodSelection selection)
    : watch_(watch), selection_(std::move(selection)) {
  for (const auto& [number, pod] : watch_->pods_) Add(*pod, 1);
  watch_->counters_.push_back(this);
}

PodWatch::Counter::~Counter() { watch_->counters_.remove(this); }

void PodWatch::Counter::Add(const ClusterPod& pod, int64_t sign) {
  if (!selection_.Has(pod)) return;
  if (!pod.node_name.empty()) {
    scheduled_ += sign;
  } else if (FindCondition(pod, kPodScheduledCondition) != nullptr) {
    attempted_ += sign;
  }
}

PodWatch::PodWatch(Cluster* cluster) {
  cluster->Watch([this](const ClusterChange& change) { OnChange(change); });
}

void PodWatch::OnChange(const ClusterChange& change) {
  if (change.resource != Resource::kPod) return;
  const ClusterPodRef& before = change.pod_before;
  const ClusterPodRef& after = change.pod_after;
  for (Counter* counter : counters_) {
    if (before != nullptr) counter->Add(*before, -1);
    if (after != nullptr) counter->Add(*after, 1);
  }
  if (after == nullptr) {
    pods_.Erase(before->number);
    return;
  }
  pods_.Set(after->number, after);
  if (after->node_name.empty() || (before != nullptr && !before->node_name.empty())) return;
  ++bound_;
  for (const auto& [key, listener] : listeners_) listener(*after);
}

std::vector<ClusterPodRef> PodWatch::List(const PodSelection& selection) const {
  std::vector<ClusterPodRef> pods;
  for (const auto& [number, pod] : pods_) {
    if (selection.Has(*pod)) pods.push_back(pod);
  }
  return pods;
}

}  // namespace schedq
