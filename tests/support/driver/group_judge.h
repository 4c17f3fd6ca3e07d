// What a trace says of groups, kept apart from the engines: which objects are known, where each
// member's root is, and which group is in its cycle.
// Threads: one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/trace/trace.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_group.h"

namespace schedq {

class GroupJudge {
 public:
  explicit GroupJudge(const Gates& gates) : gates_(gates) {}

  bool has_groups() const { return gates_.GenericWorkload(); }
  bool IsMember(const Pod& pod) const { return has_groups() && !pod.group_name.empty(); }
  // nullopt: an object on the way to the root is unknown.
  std::optional<GroupKey> RootOf(const Pod& member) const;
  // The object; null: it is unknown.
  const PodGroup* Find(const GroupKey& group) const;
  // The root that was popped and whose cycle has not ended; nullopt: none.
  const std::optional<GroupKey>& cycle() const { return cycle_; }

  // Follows a change of a group object.
  void Follow(const TraceOperation& operation);
  void BeginCycle(const GroupKey& root) { cycle_ = root; }
  void EndCycle(const GroupKey& root) {
    if (cycle_ == root) cycle_.reset();
  }

 private:
  const Gates gates_;
  std::map<GroupKey, PodGroupRef> known_;
  std::optional<GroupKey> cycle_;
};

}  // namespace schedq
