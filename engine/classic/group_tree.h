// The group objects that are known, and how they hang together. Guarded by the engine's mutex.
//
// Memory bound: the objects, and one name a parent.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/pod_group.h"

namespace schedq {

class GroupTree {
 public:
  // Without composites a group is its own root, and composites are not known.
  explicit GroupTree(bool has_composites) : has_composites_(has_composites) {}

  // Also in the place of an older version. False: composites are not known.
  bool Put(PodGroupRef group);
  // Null: it was unknown.
  PodGroupRef Erase(const GroupKey& key);

  // Null: unknown.
  const PodGroup* Find(const GroupKey& key) const;
  // The object without a parent that is reached from `key`, where each on the way is known.
  std::optional<GroupKey> RootOf(const GroupKey& key) const;
  // The groups of pods at and below `key`: breadth first, children by name.
  std::vector<GroupKey> GroupsBelow(const GroupKey& key) const;

 private:
  const bool has_composites_;
  std::map<GroupKey, PodGroupRef> known_;
  std::map<GroupKey, std::set<GroupKey>> children_;  // By the parent's key.
};

}  // namespace schedq
