#include "bench/sim/queue/queue_watch.h"

#include "bench/sim/cluster/cluster_objects.h"

namespace schedq {
namespace {

bool IsWaiting(Place place) { return place == Place::kActive || place == Place::kBackoff; }

}  // namespace

void QueueWatch::SetIdle(bool is_idle) {
  AddIdleTime();
  is_idle_ = is_idle;
}

void QueueWatch::CountPlaced(const Pod& pod) {
  if (!priorities_.empty() && *priorities_.rbegin() > pod.priority) ++inversions_;
}

Duration QueueWatch::idle() const {
  const bool is_counting = is_idle_ && in_backoff_ > 0;
  return idle_ + (is_counting ? clock_->Now() - accounted_ : Duration(0));
}

void QueueWatch::OnMoved(const PodRef& pod, Place, Place to, EventLabel) {
  AddIdleTime();
  const uint64_t number = AsClusterPod(*pod).number;
  Instant since = clock_->Now();
  if (const auto found = waiting_.find(number); found != waiting_.end()) {
    since = found->second.since;
    priorities_.erase(priorities_.find(found->second.priority));
    if (found->second.place == Place::kBackoff) --in_backoff_;
    waiting_.erase(found);
    if (to == Place::kInFlight && listener_) listener_(clock_->Now() - since);
  }
  if (!IsWaiting(to)) return;
  waiting_[number] = {to, since, pod->priority};
  priorities_.insert(pod->priority);
  if (to == Place::kBackoff) ++in_backoff_;
}

void QueueWatch::AddIdleTime() {
  idle_ = idle();
  accounted_ = clock_->Now();
}

}  // namespace schedq
