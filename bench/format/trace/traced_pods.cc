#include "bench/format/trace/traced_pods.h"

#include <utility>

namespace schedq {

std::string FullName(const Pod& pod) { return pod.namespace_name + "/" + pod.name; }

TracedPods::Entry* TracedPods::Of(const Pod& pod) {
  std::string full_name = FullName(pod);
  const auto [found, is_new] = entries_.try_emplace(full_name);
  Entry* entry = &found->second;
  if (is_new) {
    entry->full_name = std::move(full_name);
    short_[pod.name].push_back(entry);
  }
  return entry;
}

Result<TracedPods::Entry*> TracedPods::Named(const std::string& name) {
  if (const auto full = entries_.find(name); full != entries_.end()) return &full->second;
  const auto found = short_.find(name);
  if (found == short_.end()) return Error("no pod named " + name + " was added");
  if (found->second.size() > 1) {
    return Error("several pods are named " + name + ", expected namespace/name");
  }
  return found->second.front();
}

Result<TracedPods::Entry*> TracedPods::Present(const std::string& name) {
  Result<Entry*> entry = Named(name);
  if (!entry) return entry;
  if ((*entry)->live == nullptr && (*entry)->in_flight.empty()) {
    return Error("pod " + name + " is neither live nor in flight");
  }
  return entry;
}

std::string TracedPods::DisplayName(const Entry& entry) const {
  const std::string name = entry.full_name.substr(entry.full_name.find('/') + 1);
  const auto found = short_.find(name);
  return found != short_.end() && found->second.size() == 1 ? name : entry.full_name;
}

}  // namespace schedq
