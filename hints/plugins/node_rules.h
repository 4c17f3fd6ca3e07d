// What a pod says of nodes: which it requires, which it prefers, and which ports it takes of its
// own. The plugins that look at nodes share this, and so does the placing half of each.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

// The pod's rules, or none.
const PodRules& RulesOf(const Pod& pod);

// Whether the node meets every requirement of the term; an empty term is met by none.
bool MeetsTerm(const NodeTerm& term, const ObjectView& node);
// Whether the pod has a node selector or requires anything of nodes.
bool HasNodeAffinity(const Pod& pod);
// Whether the node has the labels of the pod's selector, and meets one of its required terms if
// there are any.
bool MatchesAffinity(const Pod& pod, const ObjectView& node);
// The weights of the preferred terms that the node meets.
int64_t PreferenceFor(const Pod& pod, const ObjectView& node);

// Whether both nodes declare the same features.
bool DeclareTheSame(const ObjectView& a, const ObjectView& b);

// Whether a pod with the one cannot be on a node with the other: the same port and protocol, at the
// same address or at all of them.
bool Conflicts(const HostPort& a, const HostPort& b);
bool AnyConflicts(const std::vector<HostPort>& a, const std::vector<HostPort>& b);

}  // namespace schedq
