#include "bench/sim/placing/volumes/available_volumes.h"

#include <algorithm>

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

void AvailableVolumes::Add(const ClusterVolumeRef& volume) {
  Pool& pool = pools_[volume->spec.class_name];
  const auto [place, is_new] =
      pool.by_key.try_emplace(KeyOf(*volume), static_cast<uint32_t>(pool.groups.size()));
  if (is_new) pool.groups.push_back({volume, {}});
  pool.groups[place->second].volumes[volume->name] = volume;
}

void AvailableVolumes::Remove(const ClusterVolume& volume) {
  const auto pool = pools_.find(volume.spec.class_name);
  if (pool == pools_.end()) return;
  const auto group = pool->second.by_key.find(KeyOf(volume));
  if (group != pool->second.by_key.end()) {
    pool->second.groups[group->second].volumes.erase(volume.name);
  }
}

void AvailableVolumes::NodeChanged(uint32_t slot) {
  for (auto& [name, pool] : pools_) {
    if (slot < pool.reaches.size()) pool.reaches[slot] = {};
  }
}

const std::vector<uint32_t>& AvailableVolumes::ReachedFrom(Pool* pool, uint32_t slot,
                                                           const ObjectView& node) {
  if (slot >= pool->reaches.size()) pool->reaches.resize(slot + 1);
  Reach& reach = pool->reaches[slot];
  for (; reach.seen < pool->groups.size(); ++reach.seen) {
    if (!MeetsAnyTerm(pool->groups[reach.seen].example->spec.node_terms, node)) continue;
    reach.groups.push_back(static_cast<uint32_t>(reach.seen));
  }
  return reach.groups;
}

ClusterVolumeRef AvailableVolumes::Find(const ClusterVolumeClaim& claim, uint32_t slot,
                                        const ObjectView& node,
                                        std::span<const std::string> chosen) {
  const auto pool = pools_.find(claim.spec.class_name);
  if (pool == pools_.end()) return nullptr;
  ClusterVolumeRef best;
  for (const uint32_t number : ReachedFrom(&pool->second, slot, node)) {
    const Group& group = pool->second.groups[number];
    const auto is_free = [&](const auto& each) {
      return std::find(chosen.begin(), chosen.end(), each.first) == chosen.end();
    };
    const auto first = std::find_if(group.volumes.begin(), group.volumes.end(), is_free);
    if (first == group.volumes.end() || !Suits(*group.example, claim)) continue;
    const ClusterVolumeRef& volume = first->second;
    const bool is_better = best == nullptr || volume->spec.bytes < best->spec.bytes ||
                           (volume->spec.bytes == best->spec.bytes && volume->name < best->name);
    if (is_better) best = volume;
  }
  return best;
}

}  // namespace schedq
