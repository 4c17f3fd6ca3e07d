// The ResourceClaims that exist: added or updated, and not deleted since.
//
// Threads: any. One shared_mutex; a question does not allocate.
// Memory: the names of the claims that exist.
#pragma once

#include <shared_mutex>
#include <string_view>
#include <unordered_set>

#include "hints/object_name.h"

namespace schedq {

class KnownClaims {
 public:
  void Insert(std::string_view namespace_name, std::string_view name);
  void Erase(std::string_view namespace_name, std::string_view name);
  bool Contains(std::string_view namespace_name, std::string_view name) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_set<ObjectName, ObjectNameHash, ObjectNameEqual> claims_;  // Guarded by mutex_.
};

}  // namespace schedq
