#include "tests/support/model/memory.h"

#include "tests/support/model/heap.h"

namespace schedq::model {

bool Acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}

bool Releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

void Memory::Begin() {
  threads_[0] = Thread{};
  seq_cst_seen_ = Clock{};
  step_ = 0;
  used_ = 0;
  Tick(0);
}

void Memory::Tick(uint32_t thread) {
  ++step_;
  View& now = threads_[thread].now;
  now.seen.at[thread] = ++now.ordered.at[thread];
}

void Memory::Spawn(uint32_t parent, uint32_t child) {
  Tick(parent);
  threads_[child] = Thread{};
  threads_[child].now = threads_[parent].now;
  Tick(child);
}

void Memory::Join(uint32_t thread, uint32_t joined) {
  Tick(joined);
  threads_[thread].now.Join(threads_[joined].now);
  Tick(thread);
}

uint32_t Memory::NewLocation(Word initial, uint32_t thread, uint32_t epoch) {
  if (used_ == locations_.size()) {
    const Untracked untracked;
    locations_.push_back(std::make_unique<Location>());
  }
  Location& location = *locations_[used_];
  location.stores = 0;
  location.name = nullptr;
  location.last_access = Clock{};
  Version& first = Push(location, initial);
  first.release = View{};
  first.first_seen.at[thread] = epoch;
  location.last_access.at[thread] = epoch;
  return used_++;
}

Version& Memory::Push(Location& location, Word value) {
  ++location.stores;
  Version& version = location.Age(0);
  version.value = value;
  version.first_seen = Clock::Never();
  version.seq_cst_step = kNever;
  return version;
}

void Memory::See(Location& location, Version& version, uint32_t thread, bool seq_cst) {
  const uint32_t epoch = threads_[thread].now.ordered.at[thread];
  if (version.first_seen.at[thread] == kNever) version.first_seen.at[thread] = epoch;
  if (seq_cst && version.seq_cst_step == kNever) version.seq_cst_step = step_;
  location.last_access.at[thread] = epoch;
}

uint32_t Memory::Readable(Location& location, uint32_t thread, std::memory_order order) const {
  const View& now = threads_[thread].now;
  const bool seq_cst = order == std::memory_order_seq_cst;
  const uint32_t kept = location.Kept();
  for (uint32_t age = 0; age < kept; ++age) {
    const Version& version = location.Age(age);
    // A load returns no store older than this one in three cases. The thread has seen this one; a
    // sequentially consistent operation accessed it before this thread's latest such fence; or this
    // load is sequentially consistent, and such an operation or fence came before.
    const bool hides =
        version.first_seen.ReachedBy(now.seen) || version.seq_cst_step <= now.fence ||
        (seq_cst &&
         (version.seq_cst_step != kNever || version.first_seen.ReachedBy(seq_cst_seen_)));
    if (hides) return age + 1;
  }
  return kept;
}

Word Memory::Load(Location& location, uint32_t age, uint32_t thread, std::memory_order order) {
  Version& version = location.Age(age);
  See(location, version, thread, order == std::memory_order_seq_cst);
  Thread& self = threads_[thread];
  (Acquires(order) ? self.now : self.unacquired).Join(version.release);
  return version.value;
}

void Memory::Store(Location& location, Word value, uint32_t thread, std::memory_order order) {
  Version& version = Push(location, value);
  See(location, version, thread, order == std::memory_order_seq_cst);
  const Thread& self = threads_[thread];
  version.release = Releases(order) ? self.now : self.release_fence;
}

void Memory::Update(Location& location, Word value, uint32_t thread, std::memory_order order) {
  Load(location, 0, thread, order);
  // A read-modify-write continues the release sequence of the store that it replaces.
  const View inherited = location.Age(0).release;
  Store(location, value, thread, order);
  location.Age(0).release.Join(inherited);
}

void Memory::Fence(uint32_t thread, std::memory_order order) {
  Thread& self = threads_[thread];
  if (Acquires(order)) self.now.Join(self.unacquired);
  if (order == std::memory_order_seq_cst) {
    self.now.seen.Join(seq_cst_seen_);
    seq_cst_seen_ = self.now.seen;
    self.now.fence = step_;
  }
  if (Releases(order)) self.release_fence = self.now;
}

bool Memory::Access(PlainHistory& history, uint32_t thread, bool write) const {
  Clock ordered = threads_[thread].now.ordered;
  const uint32_t epoch = ordered.at[thread] = PlainEpoch(thread);
  if (history.write_epoch > ordered.at[history.writer]) return false;
  if (!write) {
    history.reads.at[thread] = epoch;
    return true;
  }
  if (!history.reads.Within(ordered)) return false;
  history.writer = thread;
  history.write_epoch = epoch;
  return true;
}

}  // namespace schedq::model
