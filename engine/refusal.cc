#include "engine/refusal.h"

#include <cstddef>
#include <string>

#include "engine/base/names/interner.h"

namespace schedq {
namespace {

// A name as a message shows it: one that is too long not whole.
std::string Shown(std::string_view name) {
  constexpr size_t kShownMax = 253;  // The longest that Kubernetes takes.
  if (name.size() <= kShownMax) return std::string(name);
  return std::string(name.substr(0, kShownMax)) + "...";
}

// Of "namespace/name".
size_t NameBytes(const Pod& pod) { return pod.namespace_name.size() + 1 + pod.name.size(); }

// Of a group in the namespace, with what tells its kind from the other.
size_t GroupNameBytes(std::string_view namespace_name, std::string_view group) {
  return namespace_name.size() + group.size() + sizeof("composite:/");
}

Error TooLong(const std::string& what, size_t bytes) {
  return Error(what + " has " + std::to_string(bytes) + " bytes, expected at most " +
               std::to_string(Interner::kTextBytesMax));
}

}  // namespace

bool HasNameTooLong(const Pod& pod, std::string_view node) {
  return NameBytes(pod) > Interner::kTextBytesMax || node.size() > Interner::kTextBytesMax ||
         GroupNameBytes(pod.namespace_name, pod.group_name) > Interner::kTextBytesMax;
}

bool HasNameTooLong(const PodGroup& group) {
  const std::string& space = group.key.namespace_name;
  return GroupNameBytes(space, group.key.name) > Interner::kTextBytesMax ||
         GroupNameBytes(space, group.parent) > Interner::kTextBytesMax;
}

Error Refusal(std::string_view operation, const Pod& pod, std::string_view node,
              uint64_t pods_max) {
  const std::string start =
      std::string(operation) + ": pod " + Shown(pod.namespace_name) + "/" + Shown(pod.name) + ": ";
  if (NameBytes(pod) > Interner::kTextBytesMax) return TooLong(start + "its name", NameBytes(pod));
  if (node.size() > Interner::kTextBytesMax) return TooLong(start + "its node's name", node.size());
  const size_t group_bytes = GroupNameBytes(pod.namespace_name, pod.group_name);
  if (group_bytes > Interner::kTextBytesMax) {
    return TooLong(start + "its group's name", group_bytes);
  }
  return Error(start + "the queue is full, expected at most " + std::to_string(pods_max) +
               " pods at one time");
}

Error QueuedAlready(const Pod& pod, Place place) {
  return Error("fail: pod " + QualifiedName(pod) +
               " is in a queue already: " + std::string(PlaceName(place)));
}

}  // namespace schedq
