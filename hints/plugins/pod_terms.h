// What a pod says of other pods: whose neighbour it wants to be or not to be, and how it wants to
// be spread among its like. InterPodAffinity, PodTopologySpread and their placing halves share
// this. Threads: pure functions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {

// Whether the term, held by a pod of `holder_namespace`, is about pods of this namespace with these
// labels. `namespace_labels` null: they are unknown, and a selector of namespaces holds for all.
bool Selects(const PodTerm& term, std::string_view holder_namespace,
             std::string_view namespace_name, const Labels& labels, const Labels* namespace_labels);
// The same where the namespaces' labels are unknown: whether it may be about the pod.
bool MaySelect(const PodTerm& term, const Pod& holder, const Pod& pod);
bool MaySelectByAll(const std::vector<PodTerm>& terms, const Pod& holder, const Pod& pod);

// The selector of a rule of a pod with these labels: with the values of its match_label_keys.
// nullopt: it selects no pod.
std::optional<LabelSelector> SelectorOf(const SpreadRule& rule, const Labels& labels);
// Whether the node has the labels by which the rules spread, all of those that are required.
bool HasAllKeys(const std::vector<SpreadRule>& rules, bool of_required, const Labels& node_labels);
// Whether the node counts for the rule of the pod, by the pod's affinity and tolerations.
bool CountsFor(const SpreadRule& rule, const Pod& pod, const ObjectView& node);

}  // namespace schedq
