#include "bench/memory_share.h"

namespace schedq {

MemoryShare::Turn::Turn(MemoryShare* share) : share_(share), guard_(share->bytes_max_) {
  const std::lock_guard lock(share_->mutex_);
  ++share_->under_way_;
}

MemoryShare::Turn::~Turn() {
  const std::lock_guard lock(share_->mutex_);
  --share_->under_way_;
  if (gave_way_) share_->one_gives_way_ = false;
}

bool MemoryShare::Turn::MustEnd() {
  if (gave_way_) return true;
  if (!guard_.IsExceeded()) return false;
  const std::lock_guard lock(share_->mutex_);
  if (share_->under_way_ == 1) return true;
  gave_way_ = !share_->one_gives_way_;
  share_->one_gives_way_ = true;
  // Another look may find less in use.
  if (!gave_way_) guard_.Reset();
  return gave_way_;
}

bool MemoryShare::Turn::GivesWayToOthers() {
  const std::lock_guard lock(share_->mutex_);
  if (share_->under_way_ == 1) return gave_way_;
  gave_way_ = true;
  share_->one_gives_way_ = true;
  return true;
}

}  // namespace schedq
