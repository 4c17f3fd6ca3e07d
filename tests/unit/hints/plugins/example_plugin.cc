#include "tests/unit/hints/plugins/example_plugin.h"

#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace example {
namespace {

using schedq::Action;
using schedq::Hint;
using schedq::ObjectChange;
using schedq::Pod;
using schedq::Resource;

bool HasQuota(const QuotaByNamespace& quota, const Pod& pod, std::string* message) {
  const auto found = quota.find(pod.namespace_name);
  if (found == quota.end() || found->second > 0) return true;
  if (message != nullptr) {
    *message = "waiting for a pod of namespace \"" + pod.namespace_name + "\" to end";
  }
  return false;
}

// Only a pod of the same namespace gives quota back when it goes.
Hint AfterPodDelete(const Pod& pod, const ObjectChange& change) {
  if (change.Latest() == nullptr) return Hint::kError;
  const bool same = change.Latest()->namespace_name == pod.namespace_name;
  return same ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

schedq::Plugin NamespaceQuotaPlugin(const QuotaByNamespace* quota) {
  schedq::Plugin plugin;
  plugin.name = "NamespaceQuota";
  plugin.rejection_message = "the namespace has used up its pods";
  plugin.pre_enqueue = [quota](const Pod& pod, std::string* message) {
    return HasQuota(*quota, pod, message);
  };
  plugin.events = {{Resource::kAssignedPod, Action::kDelete, AfterPodDelete, {}}};
  return plugin;
}

}  // namespace example
