#include "hints/known_claims.h"

#include <mutex>

namespace schedq {

void KnownClaims::Insert(std::string_view namespace_name, std::string_view name) {
  std::lock_guard lock(mutex_);
  claims_.insert(ObjectName({namespace_name, name}));
}

void KnownClaims::Erase(std::string_view namespace_name, std::string_view name) {
  std::lock_guard lock(mutex_);
  const auto found = claims_.find(ObjectNameView{namespace_name, name});
  if (found != claims_.end()) claims_.erase(found);
}

bool KnownClaims::Contains(std::string_view namespace_name, std::string_view name) const {
  std::shared_lock lock(mutex_);
  return claims_.find(ObjectNameView{namespace_name, name}) != claims_.end();
}

}  // namespace schedq
