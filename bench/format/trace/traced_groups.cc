#include "bench/format/trace/traced_groups.h"

#include <optional>
#include <string_view>

namespace schedq {
namespace {

std::string FullName(const GroupKey& group) { return group.namespace_name + "/" + group.name; }

std::string_view KindName(GroupKind kind) {
  return kind == GroupKind::kPodGroup ? "group " : "composite ";
}

Error NotKnown(const GroupKey& group) {
  return Error(std::string(KindName(group.kind)) + FullName(group) + " is not known");
}

}  // namespace

Status TracedGroups::Add(const PodGroup& group) {
  const auto [found, is_new] = is_known_.try_emplace(group.key, false);
  if (is_new) ++groups_by_name_[group.key.name];
  if (found->second) {
    return Error(std::string(KindName(group.key.kind)) + FullName(group.key) + " is known already");
  }
  found->second = true;
  return Status::Ok();
}

Status TracedGroups::Update(const PodGroup& group) const {
  const auto found = is_known_.find(group.key);
  return found != is_known_.end() && found->second ? Status::Ok() : NotKnown(group.key);
}

Status TracedGroups::Delete(const GroupKey& group) {
  const auto found = is_known_.find(group);
  if (found == is_known_.end() || !found->second) return NotKnown(group);
  found->second = false;
  return Status::Ok();
}

Result<GroupKey> TracedGroups::Named(const std::string& name) const {
  std::optional<GroupKey> named;
  for (const auto& [group, is_known] : is_known_) {
    if (group.name != name && FullName(group) != name) continue;
    if (named) return Error("several groups are named " + name + ", expected namespace/name");
    named = group;
  }
  if (!named) return Error("no group named " + name + " was added");
  return *named;
}

std::string TracedGroups::DisplayName(const GroupKey& group) const {
  const auto found = groups_by_name_.find(group.name);
  return found != groups_by_name_.end() && found->second == 1 ? group.name : FullName(group);
}

}  // namespace schedq
