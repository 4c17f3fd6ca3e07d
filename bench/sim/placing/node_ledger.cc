#include "bench/sim/placing/node_ledger.h"

#include <algorithm>

#include "engine/base/result.h"

namespace schedq {
namespace {

// The low half of a note's place + 1.
uint32_t LapOf(uint64_t note) { return static_cast<uint32_t>(note >> 32); }

}  // namespace

NodeLedger::NodeLedger() : notes_(kNotes) {}

uint32_t NodeLedger::NewSlot() {
  for (const uint32_t slot : removed_) {
    if (slots_[slot].amounts[kPodsResource].used.load(std::memory_order_relaxed) != 0) continue;
    by_name_.erase(slots_[slot].name);
    removed_.erase(slot);
    return slot;
  }
  const auto slot = static_cast<uint32_t>(slots_.grow_by(1) - slots_.begin());
  slot_count_.store(slots_.size(), std::memory_order_release);
  return slot;
}

uint32_t NodeLedger::SlotFor(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  const uint32_t slot = NewSlot();
  slots_[slot].name = name;
  by_name_.emplace(name, slot);
  return slot;
}

std::optional<uint32_t> NodeLedger::SlotOf(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

uint32_t NodeLedger::SetNode(const ClusterNodeRef& node) {
  AmountsByKind limits;
  limits.Add(kAssumedCpu, INT64_MAX);
  limits.Add(kAssumedMemory, INT64_MAX);
  for (const auto& [name, amount] : node->allocatable) {
    limits.Add(resources_.FindOrAdd(name), amount);
  }
  const std::lock_guard lock(mutex_);
  const uint32_t slot = SlotFor(node->name);
  removed_.erase(slot);
  Change(slot, node, limits);
  return slot;
}

void NodeLedger::RemoveNode(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || slots_[found->second].node == nullptr) return;
  removed_.insert(found->second);
  Change(found->second, nullptr, {});
}

void NodeLedger::Change(uint32_t number, const ClusterNodeRef& node, const AmountsByKind& limits) {
  Slot& slot = slots_[number];
  for (ResourceKind kind = 0; kind < kColumnKinds; ++kind) {
    slot.amounts[kind].limit.store(limits.Of(kind), std::memory_order_relaxed);
  }
  for (const NodeDemand::Part& part : limits.rare()) slot.rare.FindOrAdd(part.kind);
  slot.rare.ForEach([&](ResourceKind kind, NodeAmounts& amounts) {
    amounts.limit.store(limits.Of(kind), std::memory_order_relaxed);
  });
  slot.node = node;
  slot.node_version.fetch_add(1, std::memory_order_relaxed);
  Note(number);
}

const NodeDemand::Part* NodeLedger::Slot::TakeWhileFit(const NodeDemand::Part* part,
                                                       const NodeDemand::Part* end) {
  for (; part != end; ++part) {
    NodeAmounts* const of_kind = Find(part->kind);
    if (of_kind == nullptr) return part;
    const int64_t before = of_kind->used.fetch_add(part->amount, std::memory_order_relaxed);
    if (before + part->amount <= of_kind->limit.load(std::memory_order_relaxed)) continue;
    // Meanwhile another thread may have been refused needlessly; it tries again, as this one does.
    of_kind->used.fetch_sub(part->amount, std::memory_order_relaxed);
    return part;
  }
  return end;
}

void NodeLedger::Slot::Give(const NodeDemand::Part& part) {
  NodeAmounts* const of_kind = Find(part.kind);
  SCHEDQ_CHECK(of_kind != nullptr, "what is given back was taken");
  of_kind->used.fetch_sub(part.amount, std::memory_order_relaxed);
}

bool NodeLedger::Reserve(uint32_t slot, uint64_t node_version, const NodeDemand& demand) {
  Slot& node = slots_[slot];
  const bool is_same = node.node_version.load(std::memory_order_relaxed) == node_version;
  if (demand.fits_nowhere || !is_same) return false;
  const NodeDemand::Part* const rare = demand.rare.data();
  const NodeDemand::Part* const rare_end = rare + demand.rare.size();
  const NodeDemand::Part* const taken = node.TakeWhileFit(demand.begin(), demand.end());
  const NodeDemand::Part* rare_taken = rare;
  if (taken == demand.end()) rare_taken = node.TakeWhileFit(rare, rare_end);
  const bool fits = taken == demand.end() && rare_taken == rare_end;
  if (!fits) {
    const auto give = [&](const NodeDemand::Part& part) { node.Give(part); };
    std::for_each(demand.begin(), taken, give);
    std::for_each(rare, rare_taken, give);
  }
  Note(slot);
  return fits;
}

uint32_t NodeLedger::Take(const std::string& node, const NodeDemand& demand) {
  const std::lock_guard lock(mutex_);
  const bool is_known = by_name_.count(node) != 0;
  const uint32_t slot = SlotFor(node);
  if (!is_known) removed_.insert(slot);
  demand.ForEachPart([&](const NodeDemand::Part& part) {
    slots_[slot].FindOrAdd(part.kind).used.fetch_add(part.amount, std::memory_order_relaxed);
  });
  Note(slot);
  return slot;
}

void NodeLedger::Give(uint32_t slot, const NodeDemand& demand) {
  Slot& node = slots_[slot];
  demand.ForEachPart([&](const NodeDemand::Part& part) { node.Give(part); });
  Note(slot);
}

NodeLedger::Balance NodeLedger::BalanceOf(uint32_t number) const {
  const Slot& slot = slots_[number];
  Balance balance;
  balance.columns = resources_.columns();
  for (size_t kind = 0; kind < balance.columns; ++kind) {
    const int64_t used = slot.amounts[kind].used.load(std::memory_order_relaxed);
    const int64_t limit = slot.amounts[kind].limit.load(std::memory_order_relaxed);
    balance.free[kind] = limit - used;
  }
  balance.node_version = slot.node_version.load(std::memory_order_relaxed);
  return balance;
}

ClusterNodeRef NodeLedger::NodeAt(uint32_t slot) const {
  const std::lock_guard lock(mutex_);
  return slots_[slot].node;
}

void NodeLedger::Note(uint32_t slot) {
  const uint64_t place = noted_.fetch_add(1, std::memory_order_acq_rel);
  const uint64_t note = (place + 1) << 32 | slot;
  std::atomic<uint64_t>& stored = notes_[place % kNotes];
  uint64_t before = stored.load(std::memory_order_relaxed);
  // A thread that was set aside for a whole lap leaves the later note. Each failed exchange means
  // that another thread has written one.
  while (static_cast<int32_t>(LapOf(note) - LapOf(before)) > 0 &&
         !stored.compare_exchange_weak(before, note, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

bool NodeLedger::Follow(Cursor* cursor, const std::function<void(uint32_t)>& visit) const {
  const uint64_t end = noted_.load(std::memory_order_acquire);
  if (end - *cursor > kNotes) return false;
  bool has_gap = false;
  for (uint64_t place = *cursor; place != end; ++place) {
    const uint64_t note = notes_[place % kNotes].load(std::memory_order_acquire);
    const auto behind = static_cast<int32_t>(LapOf(note) - static_cast<uint32_t>(place + 1));
    if (behind > 0) return false;  // Written by a later lap: it is lost.
    // Not written yet: it is read next time, and what stands behind it now and then.
    has_gap = has_gap || behind < 0;
    if (behind == 0) visit(static_cast<uint32_t>(note));
    if (!has_gap) *cursor = place + 1;
  }
  return true;
}

}  // namespace schedq
