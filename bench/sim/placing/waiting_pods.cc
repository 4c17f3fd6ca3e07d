#include "bench/sim/placing/waiting_pods.h"

#include <algorithm>
#include <utility>

namespace schedq {
namespace {

bool Has(const std::vector<size_t>& plugins, size_t plugin) {
  return std::find(plugins.begin(), plugins.end(), plugin) != plugins.end();
}

}  // namespace

void WaitingPods::Open(const PodRef& pod) {
  auto record = std::make_shared<Record>();
  record->pod = pod;
  const std::lock_guard lock(mutex_);
  by_uid_[pod->uid] = std::move(record);
  count_.store(by_uid_.size());
}

void WaitingPods::Drop(const Pod& pod) {
  const std::lock_guard lock(mutex_);
  by_uid_.erase(pod.uid);
  count_.store(by_uid_.size());
}

void WaitingPods::Begin(const Pod& pod, const std::vector<Wait>& waits, Then then) {
  std::unique_lock lock(mutex_);
  const auto found = by_uid_.find(pod.uid);
  if (found == by_uid_.end()) return;
  const RecordRef record = found->second;
  for (const Wait& wait : waits) {
    if (!Has(record->allowed, wait.plugin)) record->awaited.push_back(wait.plugin);
  }
  record->then = std::move(then);
  record->waits = true;
  if (record->awaited.empty() || record->rejector != kAllowed) {
    by_uid_.erase(found);
    count_.store(by_uid_.size());
    lock.unlock();
    return End(record, record->rejector);
  }
  const Instant now = clock_.Now();
  for (const Wait& wait : waits) {
    record->timers.push_back(
        clock_.At(now + std::min(wait.timeout, kPermitWaitMax),
                  [this, uid = pod.uid, plugin = wait.plugin] { OnTimeout(uid, plugin); }));
  }
}

// A timer is cancelled before its pod can wait again, so that it is always the wait's own.
void WaitingPods::OnTimeout(const std::string& uid, size_t plugin) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_uid_.find(uid);
    if (found == by_uid_.end() || !Has(found->second->awaited, plugin)) return;
  }
  Reject(uid, plugin);
}

void WaitingPods::End(const RecordRef& record, size_t rejector) {
  for (const TimerId timer : record->timers) clock_.Cancel(timer);
  record->then(rejector);
}

void WaitingPods::Allow(const std::string& uid, size_t plugin) {
  std::unique_lock lock(mutex_);
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  const RecordRef record = found->second;
  if (!record->waits) return record->allowed.push_back(plugin);
  std::erase(record->awaited, plugin);
  if (!record->awaited.empty()) return;
  by_uid_.erase(found);
  count_.store(by_uid_.size());
  lock.unlock();
  End(record, kAllowed);
}

void WaitingPods::Reject(const std::string& uid, size_t plugin) {
  if (size() == 0) return;
  std::unique_lock lock(mutex_);
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  const RecordRef record = found->second;
  record->rejector = plugin;
  if (!record->waits) return;
  by_uid_.erase(found);
  count_.store(by_uid_.size());
  lock.unlock();
  End(record, plugin);
}

std::vector<PodRef> WaitingPods::List() const {
  std::vector<PodRef> pods;
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, record] : by_uid_) pods.push_back(record->pod);
  return pods;
}

void WaitingPods::Clear() {
  std::unordered_map<std::string, RecordRef> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(by_uid_);
    count_.store(0);
  }
  for (const auto& [uid, record] : all) {
    for (const TimerId timer : record->timers) clock_.Cancel(timer);
  }
}

}  // namespace schedq
