// NodeAffinity: a pod goes only to nodes that match its selector and required affinity.
//
// Worth another attempt: a matching node appears, or a node's labels come to match.
#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

Hint AfterNodeChange(const Pod& pod, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (!MatchesAffinity(pod, *change.after)) return Hint::kSkip;
  const bool matched_before = change.before != nullptr && MatchesAffinity(pod, *change.before);
  return matched_before ? Hint::kSkip : Hint::kQueue;
}

}  // namespace

Plugin NodeAffinityPlugin() {
  Plugin plugin;
  plugin.name = "NodeAffinity";
  plugin.rejection_message = "no node matches the pod's node selector and required node affinity";
  plugin.events = {{Resource::kNode, Action::kAdd | Action::kUpdateNodeLabel, AfterNodeChange, {}}};
  return plugin;
}

}  // namespace schedq
