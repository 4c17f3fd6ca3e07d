// DefaultPreemption: a pod that preempted others waits until its victims are gone; so do all
// members of a group for which others were preempted. Where preemption is no business of the
// background (gate SchedulerAsyncPreemption off) nobody waits, and the plugin rejects no pod.
#include <string>
#include <string_view>

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/running_preemptions.h"
#include "hints/world.h"

namespace schedq {
namespace {

constexpr char kMessage[] = "waiting for the pods that this pod preempts to terminate";

}  // namespace

Plugin DefaultPreemptionPlugin(const World* world, bool has_groups, bool is_async) {
  Plugin plugin;
  plugin.name = "DefaultPreemption";
  if (!is_async) return plugin;
  plugin.rejection_message = kMessage;
  plugin.pre_enqueue = [world, has_groups](const Pod& pod, std::string* message) {
    const RunningPreemptions& running = world->preemptions();
    if (running.IsEmpty()) return true;
    const bool waits =
        has_groups && !pod.group_name.empty()
            ? running.Contains(PreemptionKeyOfGroup(pod.namespace_name, pod.group_name))
            : running.Contains(pod.uid);
    if (!waits) return true;
    if (message != nullptr) *message = kMessage;
    return false;
  };
  // The rejection ends by itself, and the pod's owner need not know which pods are preempted.
  plugin.user_message = [](const Pod&, std::string_view) { return std::string(); };
  // Skip is honest: a preempting pod was rejected by another plugin as well, and that plugin's hint
  // decides when the pod is worth another attempt. Without the registration the queue would not
  // consider the gated pod when a victim is gone.
  plugin.events = {{Resource::kAssignedPod,
                    Action::kDelete,
                    [](const Pod&, const ObjectChange&) { return Hint::kSkip; },
                    {}}};
  return plugin;
}

}  // namespace schedq
