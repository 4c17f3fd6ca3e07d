#include "bench/sim/placing/node_columns.h"

#include <algorithm>

#include "engine/object.h"

namespace schedq {
namespace {

void SetBit(std::vector<uint64_t>* bits, uint32_t slot, bool value) {
  const uint64_t bit = uint64_t{1} << slot % kNodesPerBlock;
  uint64_t& word = (*bits)[slot / kNodesPerBlock];
  word = value ? word | bit : word & ~bit;
}

bool KeepsPodsAway(const Taint& taint) { return taint.effect != "PreferNoSchedule"; }

}  // namespace

void NodeColumns::Refresh() {
  if (!ledger_.Follow(&cursor_, [this](uint32_t slot) { Read(slot); })) ReadAll();
}

void NodeColumns::ReadAll() {
  cursor_ = ledger_.Now();
  const auto slots = static_cast<uint32_t>(ledger_.slots());
  for (uint32_t slot = 0; slot < slots; ++slot) Read(slot);
}

void NodeColumns::Grow(size_t blocks) {
  if (blocks <= known_.size()) return;
  for (auto* masks : {&known_, &unschedulable_, &tainted_}) masks->resize(blocks);
  const size_t slots = blocks * kNodesPerBlock;
  for (auto& column : free_) column.resize(slots);
  shares_.resize(slots);
  node_versions_.resize(slots);
  nodes_.resize(slots);
}

void NodeColumns::Read(uint32_t slot) {
  Grow(slot / kNodesPerBlock + 1);
  const NodeLedger::Balance balance = ledger_.BalanceOf(slot);
  for (size_t kind = 0; kind < balance.kinds; ++kind) free_[kind][slot] = balance.free[kind];
  shares_[slot] = balance.share;
  if (balance.node_version == node_versions_[slot]) return;
  node_versions_[slot] = balance.node_version;
  ReadNode(slot);
}

void NodeColumns::ReadNode(uint32_t slot) {
  if (nodes_[slot] != nullptr) --node_count_;
  nodes_[slot] = ledger_.NodeAt(slot);
  const ClusterNode* const node = nodes_[slot].get();
  if (node != nullptr) ++node_count_;
  SetBit(&known_, slot, node != nullptr);
  SetBit(&unschedulable_, slot, node != nullptr && node->unschedulable);
  SetBit(&tainted_, slot,
         node != nullptr && std::any_of(node->taints.begin(), node->taints.end(), KeepsPodsAway));
}

uint64_t NodeColumns::WithFree(size_t block, uint8_t kind, int64_t amount) const {
  const int64_t* const free = free_[kind].data() + block * kNodesPerBlock;
  uint64_t mask = 0;
  for (size_t i = 0; i < kNodesPerBlock; ++i) {
    mask |= static_cast<uint64_t>(free[i] >= amount) << i;
  }
  return mask;
}

}  // namespace schedq
