#include "hints/running_preemptions.h"

#include <mutex>

namespace schedq {

void RunningPreemptions::Begin(std::string_view pod_uid) {
  std::lock_guard lock(mutex_);
  pod_uids_.emplace(pod_uid);
}

void RunningPreemptions::End(std::string_view pod_uid) {
  std::lock_guard lock(mutex_);
  const auto found = pod_uids_.find(pod_uid);
  if (found != pod_uids_.end()) pod_uids_.erase(found);
}

bool RunningPreemptions::Contains(std::string_view pod_uid) const {
  std::shared_lock lock(mutex_);
  return pod_uids_.find(pod_uid) != pod_uids_.end();
}

}  // namespace schedq
