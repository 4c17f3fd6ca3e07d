#include "bench/sim/placing/node_columns.h"

#include <algorithm>

#include "bench/format/objects/api_object.h"
#include "engine/object.h"

namespace schedq {
namespace {

void SetBit(std::vector<uint64_t>* bits, uint32_t slot, bool value) {
  const uint64_t bit = uint64_t{1} << slot % kNodesPerBlock;
  uint64_t& word = (*bits)[slot / kNodesPerBlock];
  word = value ? word | bit : word & ~bit;
}

bool KeepsPodsAway(const Taint& taint) { return taint.effect != "PreferNoSchedule"; }

bool Discourages(const ClusterNode& node) {
  return !std::all_of(node.taints.begin(), node.taints.end(), KeepsPodsAway);
}

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
  for (auto& column : limits_) column.resize(slots);
  room_versions_.resize(slots);
  node_versions_.resize(slots);
  nodes_.resize(slots);
}

void NodeColumns::Read(uint32_t slot) {
  Grow(slot / kNodesPerBlock + 1);
  const NodeLedger::Balance balance = ledger_.BalanceOf(slot);
  for (size_t kind = 0; kind < balance.columns; ++kind) free_[kind][slot] = balance.free[kind];
  ledger_.ForEachRare(slot, [&](ResourceKind kind, int64_t free, int64_t limit) {
    rare_.Set({slot, free, limit}, kind);
  });
  ++room_versions_[slot];
  if (balance.node_version == node_versions_[slot]) return;
  node_versions_[slot] = balance.node_version;
  ReadNode(slot);
}

void NodeColumns::ReadNode(uint32_t slot) {
  if (nodes_[slot] != nullptr) CountNode(*nodes_[slot], -1);
  nodes_[slot] = ledger_.NodeAt(slot);
  const ClusterNode* const node = nodes_[slot].get();
  ReadLimits(slot);
  if (node != nullptr) CountNode(*node, 1);
  SetBit(&known_, slot, node != nullptr);
  SetBit(&unschedulable_, slot, node != nullptr && node->unschedulable);
  SetBit(&tainted_, slot,
         node != nullptr && std::any_of(node->taints.begin(), node->taints.end(), KeepsPodsAway));
}

void NodeColumns::CountNode(const ClusterNode& node, int sign) {
  const auto add = static_cast<size_t>(sign);
  node_count_ += add;
  if (Discourages(node)) discouraging_ += add;
  for (const NodeImage& image : node.images) {
    for (const std::string& name : image.names) {
      const auto place = images_.try_emplace(name).first;
      place->second += sign;
      if (place->second == 0) images_.erase(place);
    }
  }
}

int64_t NodeColumns::NodesWith(const std::string& image) const {
  const auto found = images_.find(image);
  return found == images_.end() ? 0 : found->second;
}

// As the ledger has them.
void NodeColumns::ReadLimits(uint32_t slot) {
  for (auto& column : limits_) column[slot] = 0;
  limits_[kAssumedCpu][slot] = INT64_MAX;
  limits_[kAssumedMemory][slot] = INT64_MAX;
  if (nodes_[slot] == nullptr) return;
  for (const auto& [name, amount] : nodes_[slot]->allocatable) {
    const auto kind = ledger_.resources().Find(name);
    if (kind && HasColumn(*kind)) limits_[*kind][slot] = amount;
  }
}

int64_t NodeColumns::RareFree(uint32_t slot, ResourceKind kind) const {
  return rare_.Of(slot, kind).free;
}

int64_t NodeColumns::RareLimit(uint32_t slot, ResourceKind kind) const {
  return rare_.Of(slot, kind).limit;
}

uint64_t NodeColumns::WithFreeInColumn(size_t block, ResourceKind kind, int64_t amount) const {
  const int64_t* const free = free_[kind].data() + block * kNodesPerBlock;
  uint64_t mask = 0;
  for (size_t i = 0; i < kNodesPerBlock; ++i) {
    mask |= static_cast<uint64_t>(free[i] >= amount) << i;
  }
  return mask;
}

std::optional<uint32_t> NodeColumns::SlotOf(const std::string& node) const {
  const std::optional<uint32_t> slot = ledger_.SlotOf(node);
  if (!slot || *slot / kNodesPerBlock >= blocks()) return std::nullopt;
  const uint64_t known = known_[*slot / kNodesPerBlock];
  return (known >> *slot % kNodesPerBlock & 1) != 0 ? slot : std::nullopt;
}

}  // namespace schedq
