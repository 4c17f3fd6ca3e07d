// NodeDeclaredFeatures: a pod goes only to nodes that declare the features that it needs.
//
// Worth another attempt: a node appears, or declares other features than before; or the pod comes
// to need others.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/node_rules.h"

namespace schedq {
namespace {

Hint AfterNodeChange(const Pod&, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  const bool declares_the_same =
      change.before != nullptr && DeclareTheSame(*change.before, *change.after);
  return declares_the_same ? Hint::kSkip : Hint::kQueue;
}

Hint AfterOwnChange(const Pod&, const ObjectChange& change) {
  if (change.before == nullptr || change.before->pod == nullptr || change.after == nullptr ||
      change.after->pod == nullptr) {
    return Hint::kError;
  }
  const auto& before = RulesOf(*change.before->pod).node_features;
  return before == RulesOf(*change.after->pod).node_features ? Hint::kSkip : Hint::kQueue;
}

}  // namespace

Plugin NodeDeclaredFeaturesPlugin() {
  Plugin plugin;
  plugin.name = "NodeDeclaredFeatures";
  plugin.rejection_message = "no node declares the features that the pod needs";
  plugin.events = {
      {Resource::kNode, Action::kAdd | Action::kUpdateNodeDeclaredFeature, AfterNodeChange, {}},
      {Resource::kTargetPod, Action::kUpdate, AfterOwnChange, {}},
  };
  return plugin;
}

}  // namespace schedq
