// An out-of-tree plugin in C++ that lets pods wait at Permit: those with the same label `gather` go
// to their nodes together, as soon as `gather-size` of them have one. Until then each keeps its
// node's room, for ten seconds at most.
//
// `schedq run --plugin libgather_plugin.so` loads it.
#include <schedq/plugin.h>

#include <cstddef>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace {

using schedq::outside::Change;
using schedq::outside::Hint;
using schedq::outside::PermitAnswer;
using schedq::outside::Pod;
using schedq::outside::Waiting;

class Gather {
 public:
  PermitAnswer Permit(const Pod& pod, std::string_view /*node*/, Waiting* waiting) const {
    const std::string name(pod.Label("gather"));
    if (name.empty()) return PermitAnswer::Allow();
    const std::lock_guard lock(mutex_);
    std::set<std::string>& present = present_[name];
    present.insert(std::string(pod.uid()));
    if (present.size() < SizeOf(pod)) return PermitAnswer::WaitFor(10'000);
    for (const std::string& uid : present) waiting->Allow(uid);
    present_.erase(name);
    return PermitAnswer::Allow();
  }

  // The pod does not go to its node after all.
  void Forget(const Pod& pod) const {
    const std::lock_guard lock(mutex_);
    const auto found = present_.find(std::string(pod.Label("gather")));
    if (found != present_.end()) found->second.erase(std::string(pod.uid()));
  }

  // A pod whose time ran out is tried again when the time of another one of its label does.
  Hint AfterPod(const Pod& pod, const Change& change) const {
    const auto object = change.latest();
    const auto other = object ? object->pod() : std::nullopt;
    if (!other) return Hint::kQueue;
    return other->Label("gather") == pod.Label("gather") ? Hint::kQueue : Hint::kSkip;
  }

 private:
  static size_t SizeOf(const Pod& pod) {
    return std::strtoul(std::string(pod.Label("gather-size")).c_str(), nullptr, 10);
  }

  mutable std::mutex mutex_;
  mutable std::map<std::string, std::set<std::string>> present_;  // Uids, by label.
};

}  // namespace

SCHEDQ_PLUGIN_LIBRARY(schedq::outside::Describe<Gather>("Gather")
                          .Rejecting("too few pods of the same gathering have a node")
                          .AtPermit<&Gather::Permit, &Gather::Forget>()
                          .On<&Gather::AfterPod>("AssignedPod", "Delete"));
