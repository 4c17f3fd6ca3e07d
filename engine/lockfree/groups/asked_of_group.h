// What an event asks about the members of gated groups: narrowing, as it looks from a group.
// Threads: one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/lockfree/groups/group_state.h"
#include "engine/pod_key.h"
#include "engine/ports.h"

namespace schedq {

// A member that pre-hints listed, and the registrations to which they belong.
struct ListedMember {
  GroupId root;
  PodId pod;
  RegistrationMask asked;

  bool operator<(const ListedMember& other) const {
    return std::pair(root, pod) < std::pair(other.root, other.pod);
  }
};

struct AskedOfGroup {
  RegistrationMask of_all;               // Asked about every member.
  std::span<const ListedMember> listed;  // Of this group, by their numbers.

  RegistrationMask Of(PodId pod) const {
    const auto is_before = [](const ListedMember& member, PodId id) { return member.pod < id; };
    const auto found = std::lower_bound(listed.begin(), listed.end(), pod, is_before);
    const bool is_listed = found != listed.end() && found->pod == pod;
    return of_all | (is_listed ? found->asked : 0);
  }
};

// Groups of one state, and their members that are judged together.
struct JudgedGroups {
  struct Group {
    const RootState* seen;
    AskedOfGroup asked;
    size_t first;  // Of its members in `pods`.
  };

  std::vector<Group> groups;
  std::vector<JudgedPod> pods;
};

}  // namespace schedq
