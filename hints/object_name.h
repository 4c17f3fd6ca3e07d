// "namespace/name" as the key of a hash map. A lookup does not build the key.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/names/name_key.h"
#include "engine/base/names/packed_text.h"

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
    return PackedText(key, view.namespace_name, view.name).hash();
  }

  NameKey key = NameKey::OfProcess();
};

struct ObjectNameEqual {
  using is_transparent = void;
  bool operator()(ObjectNameView a, ObjectNameView b) const {
    return a.name == b.name && a.namespace_name == b.namespace_name;
  }
};

}  // namespace schedq
