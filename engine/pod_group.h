// Groups of pods, as the cluster knows them: PodGroup and CompositePodGroup objects.
//
// Purpose: a pod that names a group is its member. All queued members under one root are one entity
// of the queue (docs/semantics.md, "Pod groups"). The gate GenericWorkload is off by default: then
// every pod is an entity by itself.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

namespace schedq {

enum class GroupKind : uint8_t { kPodGroup, kComposite };

// A group and a composite of one name are two things: the kind is part of the key.
struct GroupKey {
  GroupKind kind = GroupKind::kPodGroup;
  std::string namespace_name;
  std::string name;

  auto operator<=>(const GroupKey&) const = default;
};

// One immutable version of a group object. Of what is here only the minimum changes.
struct PodGroup {
  GroupKey key;
  int32_t priority = 0;
  int64_t min_count = 0;  // 0: not a gang. A composite has none.
  std::string parent;     // The name of a composite in the namespace; empty: none.
};

using PodGroupRef = std::shared_ptr<const PodGroup>;

// How a cycle of a group ended.
enum class GroupStatus : uint8_t { kSuccess, kUnschedulable, kError };

}  // namespace schedq
