// NodeAffinity: a pod goes only to nodes whose labels match its selector and required affinity.
//
// Worth another attempt: a matching node appears, or a node's labels come to match.
#include <algorithm>
#include <string>

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"

namespace schedq {
namespace {

const std::string* FindLabel(const Labels& labels, const std::string& key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool Matches(const NodeAffinityTerm& term, const Labels& labels) {
  const std::string* value = FindLabel(labels, term.key);
  return value != nullptr &&
         std::find(term.values.begin(), term.values.end(), *value) != term.values.end();
}

bool MatchesNode(const Pod& pod, const ObjectView& node) {
  const bool selected =
      std::all_of(pod.node_selector.begin(), pod.node_selector.end(), [&](const auto& wanted) {
        const std::string* value = FindLabel(node.labels, wanted.first);
        return value != nullptr && *value == wanted.second;
      });
  return selected &&
         std::all_of(pod.node_affinity.begin(), pod.node_affinity.end(),
                     [&](const NodeAffinityTerm& term) { return Matches(term, node.labels); });
}

Hint AfterNodeChange(const Pod& pod, const ObjectChange& change) {
  if (change.after == nullptr) return Hint::kError;
  if (!MatchesNode(pod, *change.after)) return Hint::kSkip;
  const bool matched_before = change.before != nullptr && MatchesNode(pod, *change.before);
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
