#include "bench/sim/placing/volumes/available_volumes.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "bench/format/objects/storage_objects.h"
#include "bench/sim/placing/relations/pod_class.h"
#include "engine/pod_rules.h"
#include "hints/plugins/volume_rules.h"

namespace schedq {
namespace {

void AppendNumber(int64_t number, std::string* key) { *key += std::to_string(number) + ','; }

void AppendTexts(const std::vector<std::string>& texts, std::string* key) {
  AppendNumber(static_cast<int64_t>(texts.size()), key);
  for (const std::string& text : texts) AppendKey(text, key);
}

// The same for volumes that no claim and no node can tell apart.
std::string KeyOf(const ClusterVolume& volume) {
  const PersistentVolumeObject& spec = volume.spec;
  std::string key;
  AppendNumber(spec.bytes, &key);
  AppendNumber(int64_t{spec.is_block}, &key);
  AppendTexts(spec.access_modes, &key);
  AppendNumber(static_cast<int64_t>(volume.labels.size()), &key);
  for (const auto& [name, value] : volume.labels) {
    AppendKey(name, &key);
    AppendKey(value, &key);
  }
  for (const NodeTerm& term : spec.node_terms) {
    AppendNumber(static_cast<int64_t>(term.size()), &key);
    for (const NodeRequirement& each : term) {
      AppendNumber(int64_t{each.is_field}, &key);
      AppendNumber(static_cast<int64_t>(each.op), &key);
      AppendKey(each.key, &key);
      AppendTexts(each.values, &key);
    }
  }
  return key;
}

}  // namespace

// The search for one claim.
struct AvailableVolumes::Search {
  const ClusterVolumeClaim& claim;
  const ObjectView& node;
  std::span<const std::string> chosen;
  ClusterVolumeRef best = nullptr;
};

// Of each term a requirement that names values: the one for whose values there are the fewest
// groups.
std::vector<AvailableVolumes::Label> AvailableVolumes::LabelsOf(
    const Pool& pool, const std::vector<NodeTerm>& terms) {
  std::vector<Label> labels;
  for (const NodeTerm& term : terms) {
    std::optional<std::vector<Label>> best;
    size_t groups_of_best = 0;
    for (const NodeRequirement& each : term) {
      if (each.op != LabelRequirement::Operator::kIn) continue;
      std::vector<Label> of_requirement;
      size_t groups = 0;
      for (const std::string& value : each.values) {
        of_requirement.push_back({each.is_field, each.is_field ? "" : each.key, value});
        const auto known = pool.by_label.find(of_requirement.back());
        if (known != pool.by_label.end()) groups += known->second.size();
      }
      if (best && groups >= groups_of_best) continue;
      best = std::move(of_requirement);
      groups_of_best = groups;
    }
    if (!best) return {};
    labels.insert(labels.end(), best->begin(), best->end());
  }
  return labels;
}

void AvailableVolumes::Enter(Pool* pool, const Group& group) {
  const auto& [name, volume] = *group.volumes.begin();
  const std::pair<int64_t, std::string> place(volume->spec.bytes, name);
  if (group.labels.empty()) pool->for_any.emplace(place, &group);
  for (const Label& label : group.labels) pool->by_label[label].emplace(place, &group);
}

void AvailableVolumes::Leave(Pool* pool, const Group& group) {
  const auto& [name, volume] = *group.volumes.begin();
  const std::pair<int64_t, std::string> place(volume->spec.bytes, name);
  if (group.labels.empty()) pool->for_any.erase(place);
  for (const Label& label : group.labels) {
    const auto of_label = pool->by_label.find(label);
    // A requirement may name a value twice.
    if (of_label == pool->by_label.end()) continue;
    of_label->second.erase(place);
    if (of_label->second.empty()) pool->by_label.erase(of_label);
  }
}

void AvailableVolumes::Add(const ClusterVolumeRef& volume) {
  Pool& pool = pools_[volume->spec.class_name];
  std::unique_ptr<Group>& group = pool.groups[KeyOf(*volume)];
  if (group == nullptr) {
    group = std::make_unique<Group>();
    group->labels = LabelsOf(pool, volume->spec.node_terms);
  } else if (volume->name > group->volumes.begin()->first) {
    group->volumes[volume->name] = volume;
    return;
  } else {
    Leave(&pool, *group);
  }
  group->volumes[volume->name] = volume;
  Enter(&pool, *group);
}

void AvailableVolumes::Remove(const ClusterVolume& volume) {
  const auto pool = pools_.find(volume.spec.class_name);
  if (pool == pools_.end()) return;
  const auto found = pool->second.groups.find(KeyOf(volume));
  if (found == pool->second.groups.end()) return;
  Group& group = *found->second;
  const auto known = group.volumes.find(volume.name);
  if (known == group.volumes.end()) return;
  if (known != group.volumes.begin()) {
    group.volumes.erase(known);
    return;
  }
  Leave(&pool->second, group);
  group.volumes.erase(known);
  if (!group.volumes.empty()) return Enter(&pool->second, group);
  pool->second.groups.erase(found);
  if (pool->second.groups.empty()) pools_.erase(pool);
}

void AvailableVolumes::Look(const BySize& groups, Search* search) const {
  const auto is_free = [&](const auto& each) {
    const auto& chosen = search->chosen;
    return std::find(chosen.begin(), chosen.end(), each.first) == chosen.end();
  };
  const auto smallest = groups.lower_bound({search->claim.spec.bytes, ""});
  for (auto each = smallest; each != groups.end(); ++each) {
    ++steps_;
    const auto& [place, group] = *each;
    const ClusterVolumeRef& best = search->best;
    if (best != nullptr && place > std::pair(best->spec.bytes, best->name)) return;
    const ClusterVolume& example = *group->volumes.begin()->second;
    if (!Suits(example, search->claim) || !MeetsAnyTerm(example.spec.node_terms, search->node)) {
      continue;
    }
    const auto first = std::find_if(group->volumes.begin(), group->volumes.end(), is_free);
    if (first == group->volumes.end()) continue;
    const bool is_better = best == nullptr || std::tie(place.first, first->first) <
                                                  std::tie(best->spec.bytes, best->name);
    if (is_better) search->best = first->second;
  }
}

ClusterVolumeRef AvailableVolumes::Find(const ClusterVolumeClaim& claim, const ObjectView& node,
                                        std::span<const std::string> chosen) const {
  const auto found = pools_.find(claim.spec.class_name);
  if (found == pools_.end()) return nullptr;
  const Pool& pool = found->second;
  Search search{claim, node, chosen};
  Look(pool.for_any, &search);
  const auto look_at = [&](const Label& label) {
    const auto of_label = pool.by_label.find(label);
    if (of_label != pool.by_label.end()) Look(of_label->second, &search);
  };
  if (!pool.by_label.empty()) {
    look_at({true, "", node.name});
    for (const auto& [key, value] : node.labels) look_at({false, key, value});
  }
  return search.best;
}

}  // namespace schedq
