#include "engine/base/time/timer_queue.h"

#include <algorithm>
#include <utility>

#include "engine/base/result.h"

namespace schedq {
namespace {

// A timer's id is its slot and the slot's generation, which starts at one, so that no id is zero
// and an old id never means a new timer.
TimerId IdOf(uint32_t slot, uint32_t generation) { return uint64_t{generation} << 32 | slot; }
uint32_t SlotOf(TimerId id) { return static_cast<uint32_t>(id); }
uint32_t GenerationOf(TimerId id) { return static_cast<uint32_t>(id >> 32); }

}  // namespace

TimerId TimerQueue::Add(Instant at, Duration period, std::function<void()> action) {
  SCHEDQ_CHECK(period.count() >= 0, "a period is positive");
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  slot.action = std::move(action);
  slot.period = period;
  slot.live = true;
  if (++slot.generation == 0) slot.generation = 1;
  ++live_;
  const TimerId id = IdOf(index, slot.generation);
  PushEntry(at, id);
  return id;
}

bool TimerQueue::Cancel(TimerId id) {
  if (LiveSlot(id) == nullptr) return false;
  Retire(id);
  ++dead_entries_;
  if (dead_entries_ > kDeadEntriesMin && dead_entries_ > heap_.size() / 2) Compact();
  return true;
}

std::optional<Instant> TimerQueue::NextInstant() {
  DropDeadOnTop();
  return heap_.empty() ? std::nullopt : std::optional(heap_.front().at);
}

TimerQueue::Due TimerQueue::TakeNext(Instant now) {
  DropDeadOnTop();
  SCHEDQ_CHECK(!heap_.empty(), "no timer is pending");
  const Entry entry = heap_.front();
  PopEntry();
  Slot& slot = *LiveSlot(entry.id);
  Due due{.id = entry.id, .at = entry.at, .action = std::move(slot.action)};
  if (slot.period.count() == 0) {
    Retire(entry.id);
  } else {
    const int64_t missed = now > entry.at ? (now - entry.at) / slot.period : 0;
    PushEntry(entry.at + (missed + 1) * slot.period, entry.id);
  }
  return due;
}

void TimerQueue::GiveBack(Due due) {
  if (Slot* const slot = LiveSlot(due.id)) slot->action = std::move(due.action);
}

TimerQueue::Slot* TimerQueue::LiveSlot(TimerId id) {
  if (SlotOf(id) >= slots_.size()) return nullptr;
  Slot& slot = slots_[SlotOf(id)];
  return slot.live && slot.generation == GenerationOf(id) ? &slot : nullptr;
}

void TimerQueue::Retire(TimerId id) {
  Slot& slot = slots_[SlotOf(id)];
  slot.live = false;
  slot.action = nullptr;
  free_slots_.push_back(SlotOf(id));
  --live_;
}

void TimerQueue::PushEntry(Instant at, TimerId id) {
  heap_.push_back({.at = at, .order = next_order_++, .id = id});
  std::push_heap(heap_.begin(), heap_.end(), Later());
}

void TimerQueue::PopEntry() {
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  heap_.pop_back();
}

void TimerQueue::DropDeadOnTop() {
  while (!heap_.empty() && LiveSlot(heap_.front().id) == nullptr) {
    PopEntry();
    --dead_entries_;
  }
}

void TimerQueue::Compact() {
  std::erase_if(heap_, [this](const Entry& entry) { return LiveSlot(entry.id) == nullptr; });
  std::make_heap(heap_.begin(), heap_.end(), Later());
  dead_entries_ = 0;
}

}  // namespace schedq
