#include "tests/support/model/memory.h"

#include <algorithm>

#include "tests/support/model/heap.h"

namespace schedq::model {

bool Acquires(std::memory_order order) {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}

bool Releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

void Memory::Begin(bool places_old) {
  threads_[0] = Thread{};
  places_old_ = places_old;
  is_alone_ = true;
  if (places_old) seq_cst_.Begin();
  moments_ = Clock{};
  used_ = 0;
  Tick(0);
}

void Memory::Spawn(uint32_t parent, uint32_t child) {
  is_alone_ = false;
  Tick(parent);
  threads_[child] = Thread{};
  threads_[child].now = threads_[parent].now;
  threads_[child].influenced = threads_[parent].influenced;
  Tick(child);
}

void Memory::Join(uint32_t thread, uint32_t joined) {
  Tick(joined);
  threads_[thread].now.Join(threads_[joined].now);
  threads_[thread].influenced.Join(threads_[joined].influenced);
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
  location.older_sources = Clock{};
  location.older_influences = Clock{};
  Version& first = Insert(location, 0, initial, thread, epoch);
  first.release = View{};
  // A thread that may use the location knows what came before its construction.
  first.influences = Clock{};
  first.influences.at[thread] = epoch;
  first.is_update = false;
  first.first_seen.at[thread] = epoch;
  location.last_access.at[thread] = epoch;
  return used_++;
}

Version& Memory::Insert(Location& location, uint32_t age, Word value, uint32_t thread,
                        uint32_t epoch) {
  if (Records() && location.Kept() == kVersions) {
    const Version& oldest = location.Age(kVersions - 1);
    location.older_sources.Join(oldest.write_sources);
    location.older_sources.Join(oldest.read_sources);
    location.older_influences.Join(oldest.influences);
    location.older_influences.Join(oldest.readers_influences);
  }
  ++location.stores;
  for (uint32_t newer = 0; newer < age; ++newer) location.Age(newer) = location.Age(newer + 1);
  Version& version = location.Age(age);
  version.value = value;
  version.first_seen = Clock::Never();
  version.writer = thread;
  version.epoch = epoch;
  if (places_old_) {
    version.influences = threads_[thread].influenced;
    version.readers_influences = Clock{};
    version.write_sources = Clock{};
    version.read_sources = Clock{};
    version.targets = Clock::Never();
  }
  return version;
}

void Memory::See(Location& location, Version& version, uint32_t thread) {
  const uint32_t epoch = threads_[thread].now.ordered.at[thread];
  if (version.first_seen.at[thread] == kNever) version.first_seen.at[thread] = epoch;
  location.last_access.at[thread] = epoch;
}

uint32_t Memory::Readable(const Location& location, uint32_t thread) const {
  const uint32_t kept = location.Kept();
  for (uint32_t age = 0; age < kept; ++age) {
    if (location.Age(age).first_seen.ReachedBy(threads_[thread].now.ordered)) return age + 1;
  }
  return kept;
}

bool Memory::Influenced(const Location& location, uint32_t age, uint32_t thread) const {
  Clock influences = threads_[thread].influenced;
  influences.Join(location.Age(age).influences);
  for (uint32_t newer = 0; newer < age; ++newer) {
    const Version& version = location.Age(newer);
    if (version.epoch <= influences.at[version.writer]) return true;
  }
  return false;
}

void Memory::Influence(Location& location, uint32_t age, uint32_t thread, bool stores) {
  if (!Records()) return;
  Clock& influenced = threads_[thread].influenced;
  Version& version = location.Age(age);
  influenced.Join(version.influences);
  if (!stores) {
    version.readers_influences.Join(influenced);
    return;
  }
  influenced.Join(location.older_influences);
  for (uint32_t older = age; older < location.Kept(); ++older) {
    influenced.Join(location.Age(older).influences);
    influenced.Join(location.Age(older).readers_influences);
  }
}

Memory::Ordering Memory::BeginOrdering(const Location& location, uint32_t age, uint32_t thread,
                                       std::memory_order order, bool stores) {
  Ordering ordering;
  ordering.is_seq_cst = order == std::memory_order_seq_cst;
  ordering.matters = Records() && (ordering.is_seq_cst || seq_cst_.has_fences());
  if (!ordering.matters) return ordering;
  if (ordering.is_seq_cst) {
    ordering.before = seq_cst_.BeforeNext(thread, threads_[thread].now.ordered);
    ExtendByCoherence(location, age, stores, ordering.before);
  }
  ordering.targets = Clock::Never();
  for (uint32_t newer = 0; newer < age; ++newer) {
    const Version& version = location.Age(newer);
    for (uint32_t i = 0; i < kFibersMax; ++i) {
      ordering.targets.at[i] = std::min(ordering.targets.at[i], version.targets.at[i]);
    }
    if (seq_cst_.has_fences()) {
      seq_cst_.LowerToFencesBehind(version.first_seen, ordering.targets);
    }
  }
  return ordering;
}

Clock Memory::FinishOrdering(uint32_t thread, uint32_t age, const Ordering& ordering,
                             Version& version) {
  const Clock& ordered = threads_[thread].now.ordered;
  Clock sources;
  if (seq_cst_.has_fences()) sources = seq_cst_.FencesBefore(ordered);
  if (ordering.is_seq_cst) {
    const uint32_t number = seq_cst_.Add(thread, ordered.at[thread], ordering.before);
    sources.at[thread] = number;
    version.targets.at[thread] = std::min(version.targets.at[thread], number);
  }
  if (age > 0) seq_cst_.Precede(sources, ordering.targets);
  return sources;
}

void Memory::ExtendByCoherence(const Location& location, uint32_t age, bool stores,
                               Clock& before) const {
  seq_cst_.Extend(before, location.older_sources);
  for (uint32_t older = age; older < location.Kept(); ++older) {
    seq_cst_.Extend(before, location.Age(older).write_sources);
    if (older > age || stores) seq_cst_.Extend(before, location.Age(older).read_sources);
  }
}

bool Memory::MayAccess(const Location& location, uint32_t age, uint32_t thread,
                       std::memory_order order, bool stores, bool loads) {
  const Ordering ordering = BeginOrdering(location, age, thread, order, stores);
  if (!ordering.matters) return true;
  if (SeqCstOrder::Contradicts(ordering.before, ordering.targets)) return false;
  if (!seq_cst_.has_fences()) return true;
  Clock ordered = threads_[thread].now.ordered;
  if (loads && Acquires(order)) ordered.Join(location.Age(age).release.ordered);
  return !seq_cst_.AnyContradicts(seq_cst_.FencesBefore(ordered), ordering.targets);
}

Word Memory::Load(Location& location, uint32_t age, uint32_t thread, std::memory_order order) {
  const Ordering ordering = BeginOrdering(location, age, thread, order, false);
  Version& version = location.Age(age);
  See(location, version, thread);
  Thread& self = threads_[thread];
  (Acquires(order) ? self.now : self.unacquired).Join(version.release);
  Influence(location, age, thread, false);
  if (ordering.matters) {
    version.read_sources.Join(FinishOrdering(thread, age, ordering, version));
  }
  return version.value;
}

void Memory::Store(Location& location, uint32_t age, Word value, uint32_t thread,
                   std::memory_order order) {
  Write(location, age, value, thread, order, BeginOrdering(location, age, thread, order, true));
}

void Memory::Update(Location& location, uint32_t age, Word value, uint32_t thread,
                    std::memory_order order) {
  const Ordering ordering = BeginOrdering(location, age, thread, order, true);
  See(location, location.Age(age), thread);
  const View read = location.Age(age).release;
  Thread& self = threads_[thread];
  (Acquires(order) ? self.now : self.unacquired).Join(read);
  Version& version = Write(location, age, value, thread, order, ordering);
  version.is_update = true;
  // A read-modify-write continues the release sequence of the store that it follows.
  version.release.Join(read);
}

Version& Memory::Write(Location& location, uint32_t age, Word value, uint32_t thread,
                       std::memory_order order, const Ordering& ordering) {
  Influence(location, age, thread, true);
  const Thread& self = threads_[thread];
  Version& version = Insert(location, age, value, thread, self.now.ordered.at[thread]);
  version.is_update = false;
  See(location, version, thread);
  version.release = Releases(order) ? self.now : self.release_fence;
  if (ordering.matters) version.write_sources = FinishOrdering(thread, age, ordering, version);
  return version;
}

void Memory::Fence(uint32_t thread, std::memory_order order) {
  Thread& self = threads_[thread];
  const bool is_ordered = Records() && order == std::memory_order_seq_cst;
  Clock before;
  if (is_ordered) before = seq_cst_.BeforeNext(thread, self.now.ordered);
  if (Acquires(order)) self.now.Join(self.unacquired);
  if (is_ordered) {
    // What comes in coherence order before an access that happens before the fence.
    for (uint32_t i = 0; i < used_; ++i) {
      const Location& location = *locations_[i];
      const uint32_t readable = Readable(location, thread);
      const bool none = readable == location.Kept() &&
                        !location.Age(readable - 1).first_seen.ReachedBy(self.now.ordered);
      if (!none) ExtendByCoherence(location, readable - 1, false, before);
    }
    seq_cst_.AddFence(thread, self.now.ordered.at[thread], before, self.now.ordered);
  }
  if (Releases(order)) self.release_fence = self.now;
}

void Memory::Moment(uint32_t thread) {
  if (!Records()) return;
  Thread& self = threads_[thread];
  self.influenced.Join(moments_);
  moments_ = self.influenced;
  seq_cst_.AddMoment(thread, self.now.ordered.at[thread],
                     seq_cst_.BeforeNext(thread, self.now.ordered));
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
