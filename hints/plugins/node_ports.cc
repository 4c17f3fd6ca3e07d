// NodePorts: a node gives each of its ports to one pod.
//
// Worth another attempt: a node appears, or a pod goes that held one of the ports.
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

Hint AfterAssignedPodDelete(const Pod& pod, const ObjectChange& change) {
  const ObjectView* object = change.Latest();
  if (object == nullptr || object->pod == nullptr) return Hint::kError;
  const Pod& gone = *object->pod;
  const bool freed = AnyConflicts(RulesOf(pod).host_ports, RulesOf(gone).host_ports);
  return freed ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin NodePortsPlugin() {
  Plugin plugin;
  plugin.name = "NodePorts";
  plugin.rejection_message = "no node has the host ports free that the pod takes";
  plugin.events = {
      {Resource::kAssignedPod, Action::kDelete, AfterAssignedPodDelete, {}},
      {Resource::kNode, Action::kAdd, {}, {}},
  };
  return plugin;
}

}  // namespace schedq
