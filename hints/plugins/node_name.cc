// NodeName: a pod that names its node goes to no other.
//
// Worth another attempt: a node appears. (It may have the name that the pod waits for.)
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"

namespace schedq {

Plugin NodeNamePlugin() {
  Plugin plugin;
  plugin.name = "NodeName";
  plugin.rejection_message = "the node that the pod names does not exist";
  plugin.events = {{Resource::kNode, Action::kAdd, {}, {}}};
  return plugin;
}

}  // namespace schedq
