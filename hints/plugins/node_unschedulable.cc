// NodeUnschedulable: a cordoned node takes only pods that tolerate being there.
//
// Worth another attempt: a node appears that is not cordoned, or a node stops being cordoned; or
// the pod comes to tolerate cordoned nodes.
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/tolerations.h"

namespace schedq {
namespace {

Hint AfterNodeChange(const Pod&, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (change.after->unschedulable) return Hint::kSkip;
  const bool open_before = change.before != nullptr && !change.before->unschedulable;
  return open_before ? Hint::kSkip : Hint::kQueue;
}

Hint AfterOwnTolerationChange(const Pod&, const ObjectChange& change) {
  if (change.after == nullptr || change.after->pod == nullptr) return Hint::kError;
  // What the pod tolerated before does not matter: had it tolerated this, it would not have been
  // rejected.
  static const Taint kCordoned{"node.kubernetes.io/unschedulable", "", "NoSchedule"};
  const bool tolerates = ToleratesTaint(change.after->pod->tolerations, kCordoned);
  return tolerates ? Hint::kQueue : Hint::kSkip;
}

}  // namespace

Plugin NodeUnschedulablePlugin() {
  Plugin plugin;
  plugin.name = "NodeUnschedulable";
  plugin.rejection_message = "every node left is marked unschedulable (cordoned)";
  plugin.events = {
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeTaint, AfterNodeChange, {}},
      {Resource::kTargetPod, Action::kUpdatePodToleration, AfterOwnTolerationChange, {}},
  };
  return plugin;
}

}  // namespace schedq
