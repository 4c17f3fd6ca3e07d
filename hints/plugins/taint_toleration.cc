// TaintToleration: a node's taints keep pods away that do not tolerate them.
//
// Worth another attempt: a node appears whose taints the pod tolerates, or a node's taints change
// from not tolerated to tolerated; or the pod's own tolerations change.
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/tolerations.h"

namespace schedq {
namespace {

Hint AfterNodeChange(const Pod& pod, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (!ToleratesNode(pod, *change.after)) return Hint::kSkip;
  const bool tolerated_before = change.before != nullptr && ToleratesNode(pod, *change.before);
  return tolerated_before ? Hint::kSkip : Hint::kQueue;
}

}  // namespace

Plugin TaintTolerationPlugin() {
  Plugin plugin;
  plugin.name = "TaintToleration";
  plugin.rejection_message = "no node is free of taints that the pod does not tolerate";
  plugin.events = {
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeTaint, AfterNodeChange, {}},
      {Resource::kTargetPod, Action::kUpdatePodToleration, {}, {}},
  };
  return plugin;
}

}  // namespace schedq
