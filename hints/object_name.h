// "namespace/name" as the key of a hash map. A lookup does not build the key.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace schedq {

struct ObjectNameView {
  std::string_view namespace_name;
  std::string_view name;
};

struct ObjectName {
  explicit ObjectName(ObjectNameView view) : namespace_name(view.namespace_name), name(view.name) {}
  // Implicit, so that one hash and one equality are enough for both.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator ObjectNameView() const { return {namespace_name, name}; }

  std::string namespace_name;
  std::string name;
};

struct ObjectNameHash {
  using is_transparent = void;
  size_t operator()(ObjectNameView view) const {
    const size_t first = std::hash<std::string_view>()(view.namespace_name);
    return std::hash<std::string_view>()(view.name) + first * 0x9e3779b97f4a7c15;
  }
};

struct ObjectNameEqual {
  using is_transparent = void;
  bool operator()(ObjectNameView a, ObjectNameView b) const {
    return a.name == b.name && a.namespace_name == b.namespace_name;
  }
};

}  // namespace schedq
