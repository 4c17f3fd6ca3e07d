// The steps of a run: operations of atomics and plain cells, and waits.
#include <cinttypes>
#include <cstdio>

#include "tests/support/model/runtime.h"

namespace schedq::model {

namespace {

const char* OrderName(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

}  // namespace

Location& Runtime::Touch(AtomicState& atomic) {
  if (Heap::Get().IsFreed(&atomic)) {
    Fail(FailureKind::kUseAfterFree, "an atomic in freed memory is used");
  }
  if (atomic.generation != generation_) {
    // The atomic is older than the run, so its value is visible to all threads.
    atomic.generation = generation_;
    atomic.creator = 0;
    atomic.created_epoch = 0;
    atomic.location = kNever;
  }
  if (atomic.location == kNever) {
    atomic.location = memory_.NewLocation(atomic.latest, atomic.creator, atomic.created_epoch);
  }
  if (!memory_.OrderedBefore(atomic.creator, atomic.created_epoch, running_)) {
    Fail(FailureKind::kDataRace,
         "an atomic is used, but nothing orders its construction by thread " +
             std::to_string(atomic.creator) + " before");
  }
  return memory_.At(atomic.location);
}

void Runtime::CheckDestruction(AtomicState& atomic) {
  if (Heap::Get().IsFreed(&atomic)) {
    Fail(FailureKind::kUseAfterFree, "an atomic in freed memory is destroyed");
  }
  const bool constructed = memory_.OrderedBefore(atomic.creator, atomic.created_epoch, running_);
  if (!constructed || (atomic.location != kNever &&
                       !memory_.OrderedBefore(memory_.At(atomic.location), running_))) {
    Fail(FailureKind::kDataRace,
         "an atomic is destroyed, but nothing orders all uses of it by other threads before");
  }
}

void Runtime::AccessAmongOthers(PlainHistory& history, bool write) {
  if (Heap::Get().IsFreed(&history)) {
    Fail(FailureKind::kUseAfterFree, "a plain cell in freed memory is used");
  }
  if (history.generation != generation_) {
    history = PlainHistory{};
    history.generation = generation_;
  }
  if (!memory_.Access(history, running_, write)) {
    Fail(FailureKind::kDataRace,
         std::string(write ? "a plain cell is written (or destroyed)" : "a plain cell is read") +
             ", but nothing orders an access by another thread before");
  }
}

void Runtime::AddLoads(Location& location, std::memory_order order, const Word* differs_from,
                       Ages& ages) {
  if (left_.stale_reads_max == 0) return;
  const uint32_t readable = memory_.Readable(location, running_);
  const bool is_seq_cst = order == std::memory_order_seq_cst;
  for (uint32_t age = 1; age < readable; ++age) {
    if (differs_from != nullptr && location.Age(age).value == *differs_from) continue;
    if (is_seq_cst && !memory_.Influenced(location, age, running_)) continue;
    if (memory_.MayLoad(location, age, running_, order)) ages.at[ages.count++] = age;
  }
}

void Runtime::AddStores(Location& location, std::memory_order order, Ages& ages) {
  if (left_.stale_reads_max == 0) return;
  const uint32_t readable = memory_.Readable(location, running_);
  for (uint32_t age = 1; age < readable; ++age) {
    if (!memory_.Influenced(location, age, running_)) continue;
    if (memory_.MayStore(location, age, running_, order)) ages.at[ages.count++] = age;
  }
}

void Runtime::AddUpdates(Location& location, std::memory_order order, const Word* expected,
                         Ages& ages) {
  if (left_.stale_reads_max == 0) return;
  const uint32_t readable = memory_.Readable(location, running_);
  for (uint32_t age = 1; age < readable; ++age) {
    if (expected != nullptr && !(location.Age(age).value == *expected)) continue;
    if (!memory_.Influenced(location, age, running_)) continue;
    if (memory_.MayUpdate(location, age, running_, order)) ages.at[ages.count++] = age;
  }
}

uint32_t Runtime::ChooseAge(const Ages& ages) {
  if (ages.count == 1) return 0;
  const uint32_t age = ages.at[Choose(ChoiceKind::kVersion, ages.count, nullptr, false)];
  if (age > 0 && --left_.stale_reads_max == 0) memory_.PlaceOnlyNew();
  return age;
}

Word Runtime::LoadAmongOthers(AtomicState& atomic, std::memory_order order) {
  BeforeStep();
  Location& location = Touch(atomic);
  Ages ages;
  AddLoads(location, order, nullptr, ages);
  const uint32_t age = ChooseAge(ages);
  const Word value = memory_.Load(location, age, running_, order);
  if (traces_) Note("loads", &atomic, order, value, age);
  return value;
}

void Runtime::StoreAmongOthers(AtomicState& atomic, Word value, std::memory_order order) {
  BeforeStep();
  Location& location = Touch(atomic);
  Ages ages;
  AddStores(location, order, ages);
  const uint32_t age = ChooseAge(ages);
  memory_.Store(location, age, value, running_, order);
  if (age == 0) atomic.latest = value;
  if (traces_) Note("stores", &atomic, order, value, age);
}

Word Runtime::BeginUpdateAmongOthers(AtomicState& atomic, std::memory_order order) {
  BeforeStep();
  Location& location = Touch(atomic);
  Ages ages;
  AddUpdates(location, order, nullptr, ages);
  update_age_ = ChooseAge(ages);
  return location.Age(update_age_).value;
}

void Runtime::EndUpdateAmongOthers(AtomicState& atomic, Word value, std::memory_order order) {
  memory_.Update(memory_.At(atomic.location), update_age_, value, running_, order);
  if (update_age_ == 0) atomic.latest = value;
  if (traces_) Note("updates to", &atomic, order, value, update_age_);
}

bool Runtime::CompareExchangeAmongOthers(AtomicState& atomic, Word& expected, Word desired,
                                         std::memory_order success, std::memory_order failure,
                                         bool weak) {
  BeforeStep();
  Location& location = Touch(atomic);
  if (weak && atomic.latest == expected && left_.weak_failures_max > 0 &&
      Choose(ChoiceKind::kWeak, 2, nullptr, false) == 1) {
    --left_.weak_failures_max;
    memory_.Load(location, 0, running_, failure);
    if (traces_) Note("fails without cause to exchange", &atomic, failure, atomic.latest);
    return false;
  }
  Ages ages;
  AddLoads(location, failure, &expected, ages);
  AddUpdates(location, success, &expected, ages);
  const uint32_t age = ChooseAge(ages);
  if (location.Age(age).value == expected) {
    memory_.Update(location, age, desired, running_, success);
    if (age == 0) atomic.latest = desired;
    if (traces_) Note("exchanges to", &atomic, success, desired, age);
    return true;
  }
  expected = memory_.Load(location, age, running_, failure);
  if (traces_) Note("fails to exchange, finds", &atomic, failure, expected, age);
  return false;
}

void Runtime::Fence(std::memory_order order) {
  BeforeStep();
  memory_.Fence(running_, order);
  if (traces_) Note("fence", nullptr, order, {});
}

bool Runtime::Wait(AtomicState& word, uint32_t expected, bool has_deadline) {
  BeforeStep();
  memory_.Influence(Touch(word), 0, running_, false);
  if (static_cast<uint32_t>(word.latest.low) != expected) return true;
  if (traces_) Note("sleeps on", &word, std::memory_order_relaxed, word.latest);
  Thread& self = threads_[running_];
  self.state = ThreadState::kWaiting;
  self.waits_for = &word;
  self.has_deadline = has_deadline;
  self.timed_out = false;
  SwitchAway();
  return !self.timed_out;
}

void Runtime::Wake(AtomicState& word, bool all) {
  BeforeStep();
  memory_.Influence(Touch(word), 0, running_, true);
  if (traces_)
    Note(all ? "wakes all on" : "wakes one on", &word, std::memory_order_relaxed, word.latest);
  Options waiters;
  uint32_t count = 0;
  for (uint32_t id = 0; id < threads_used_; ++id) {
    if (threads_[id].state == ThreadState::kWaiting && threads_[id].waits_for == &word) {
      waiters[count++] = static_cast<uint8_t>(id);
    }
  }
  if (count == 0) return;
  if (!all) {
    waiters[0] = waiters[Choose(ChoiceKind::kWake, count, waiters.data(), false)];
    count = 1;
  }
  for (uint32_t i = 0; i < count; ++i) threads_[waiters[i]].state = ThreadState::kReady;
}

const Clock& Runtime::Mark() {
  memory_.Tick(running_);
  return memory_.Now(running_).ordered;
}

void Runtime::Name(AtomicState& atomic, const char* name) { Touch(atomic).name = name; }

void Runtime::Note(const char* what, AtomicState* atomic, std::memory_order order, Word value,
                   uint32_t age) {
  const Untracked untracked;
  char line[200];
  if (atomic == nullptr) {
    std::snprintf(line, sizeof(line), "%4u  thread %u  %s %s", steps_, running_, what,
                  OrderName(order));
  } else {
    const char* name = memory_.At(atomic->location).name;
    char value_text[48];
    if (value.high != 0) {
      std::snprintf(value_text, sizeof(value_text), "0x%" PRIx64 ":%" PRIx64, value.high,
                    value.low);
    } else {
      std::snprintf(value_text, sizeof(value_text),
                    value.low < 1'000'000 ? "%" PRIu64 : "0x%" PRIx64, value.low);
    }
    std::snprintf(line, sizeof(line), "%4u  thread %u  %s #%u%s%s = %s (%s%s)", steps_, running_,
                  what, atomic->location, name == nullptr ? "" : " ", name == nullptr ? "" : name,
                  value_text, OrderName(order),
                  age == 0   ? ""
                  : age == 1 ? ", 1 store behind"
                             : ", 2 or more stores behind");
  }
  trace_.emplace_back(line);
}

void Runtime::NoteThread(const char* what) {
  if (!traces_) return;
  const Untracked untracked;
  char place[40];
  std::snprintf(place, sizeof(place), "%4u  thread %u  ", steps_, running_);
  trace_.push_back(std::string(place) + what);
}

}  // namespace schedq::model
