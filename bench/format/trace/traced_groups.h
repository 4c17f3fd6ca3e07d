// The group objects that a trace has named: which are known now.
//
// A trace names a group by its name, or by "namespace/name" where names repeat, over groups and
// composites together. The end of a cycle may still name a group whose object is gone.
#pragma once

#include <map>
#include <string>

#include "engine/base/result.h"
#include "engine/pod_group.h"

namespace schedq {

class TracedGroups {
 public:
  // What the three operations on a group object say. An error: it is known already, or not known.
  Status Add(const PodGroup& group);
  Status Update(const PodGroup& group) const;
  Status Delete(const GroupKey& group);

  // An error where no group of this name was added, or where several have it.
  Result<GroupKey> Named(const std::string& name) const;
  // The group's name in the trace: the short one where that is unique.
  std::string DisplayName(const GroupKey& group) const;

 private:
  std::map<GroupKey, bool> is_known_;          // Of each group that was ever added.
  std::map<std::string, int> groups_by_name_;  // How many have this name in any namespace.
};

}  // namespace schedq
