#include "bench/sim/placing/rare_columns.h"

#include <algorithm>

#include "engine/base/result.h"

namespace schedq {
namespace {

// The first entry of the slot, or of a later one.
template <typename Entries>
auto From(Entries& entries, size_t slot) {
  return std::lower_bound(entries.begin(), entries.end(), slot,
                          [](const auto& entry, size_t of) { return entry.slot < of; });
}

}  // namespace

void RareColumns::Set(const Entry& entry, ResourceKind kind) {
  SCHEDQ_CHECK(!HasColumn(kind), "the kind has a column");
  const size_t number = kind - kColumnKinds;
  if (number >= by_kind_.size()) by_kind_.resize(number + 1);
  std::vector<Entry>& entries = by_kind_[number];
  const auto place = From(entries, entry.slot);
  if (place != entries.end() && place->slot == entry.slot) {
    *place = entry;
  } else {
    entries.insert(place, entry);
  }
}

RareColumns::Entry RareColumns::Of(uint32_t slot, ResourceKind kind) const {
  const size_t number = kind - kColumnKinds;
  if (number >= by_kind_.size()) return {slot};
  const std::vector<Entry>& entries = by_kind_[number];
  const auto place = From(entries, slot);
  return place != entries.end() && place->slot == slot ? *place : Entry{slot};
}

uint64_t RareColumns::WithFree(size_t first_slot, ResourceKind kind, int64_t amount) const {
  constexpr size_t kBits = 64;
  const size_t number = kind - kColumnKinds;
  if (number >= by_kind_.size()) return 0;
  const std::vector<Entry>& entries = by_kind_[number];
  uint64_t mask = 0;
  const auto end = From(entries, first_slot + kBits);
  for (auto entry = From(entries, first_slot); entry != end; ++entry) {
    mask |= static_cast<uint64_t>(entry->free >= amount) << (entry->slot - first_slot);
  }
  return mask;
}

}  // namespace schedq
