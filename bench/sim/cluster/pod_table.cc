#include "bench/sim/cluster/pod_table.h"

namespace schedq {

void PodTable::Set(uint64_t number, ClusterPodRef pod) {
  const size_t index = number / kPageSize;
  if (index >= pages_.size()) pages_.resize(index + 1);
  std::unique_ptr<Page>& page = pages_[index];
  if (page == nullptr) page = std::make_unique<Page>();
  ClusterPodRef& place = page->pods[number % kPageSize];
  if (place == nullptr) {
    ++page->count;
    ++size_;
  }
  place = std::move(pod);
}

void PodTable::Erase(uint64_t number) {
  if (Find(number) == nullptr) return;
  std::unique_ptr<Page>& page = pages_[number / kPageSize];
  page->pods[number % kPageSize] = nullptr;
  --size_;
  if (--page->count == 0) page = nullptr;
}

uint64_t PodTable::NextFrom(uint64_t number) const {
  while (number < End()) {
    if (pages_[number / kPageSize] == nullptr) {
      number = (number / kPageSize + 1) * kPageSize;
    } else if (Find(number) != nullptr) {
      return number;
    } else {
      ++number;
    }
  }
  return End();
}

uint64_t PodTable::last() const {
  for (size_t index = pages_.size(); index-- > 0;) {
    if (pages_[index] == nullptr) continue;
    for (size_t i = kPageSize; i-- > 0;) {
      if (pages_[index]->pods[i] != nullptr) return index * kPageSize + i;
    }
  }
  return 0;
}

}  // namespace schedq
