#include "bench/sim/placing/volumes/attachments.h"

#include <algorithm>
#include <cstdint>

#include "bench/sim/placing/node_columns.h"

namespace schedq {
namespace {

constexpr int64_t kNoLimit = INT64_MAX;

template <typename PodsBySlot>
auto FindSlot(PodsBySlot& pods, uint32_t slot) {
  return std::find_if(pods.begin(), pods.end(),
                      [slot](const auto& each) { return each.first == slot; });
}

}  // namespace

AttachedVolume Attachments::VolumeOf(const std::string& driver, const std::string& handle) {
  if (driver.empty() || handle.empty()) return {};
  const auto [place, is_new] = numbers_.try_emplace(driver, static_cast<uint32_t>(drivers_.size()));
  if (is_new) drivers_.emplace_back();
  return {place->second, driver + '/' + handle};
}

int64_t Attachments::LimitOf(const Driver& driver, uint32_t slot) {
  return slot < driver.limits.size() ? driver.limits[slot] : kNoLimit;
}

int64_t Attachments::AttachedOf(const Driver& driver, uint32_t slot) {
  return slot < driver.attached.size() ? driver.attached[slot] : 0;
}

void Attachments::Mount(const AttachedVolume& volume, uint32_t slot, int64_t pods) {
  if (volume.name.empty() || pods == 0) return;
  PodsBySlot& holders = holders_[volume.name];
  auto holder = FindSlot(holders, slot);
  if (holder == holders.end()) holder = holders.insert(holder, {slot, 0});
  const bool was_attached = holder->second != 0;
  holder->second += pods;
  const bool is_attached = holder->second != 0;
  if (!is_attached) {
    *holder = holders.back();
    holders.pop_back();
  }
  if (holders.empty()) holders_.erase(volume.name);
  std::vector<int64_t>& attached = drivers_[volume.driver].attached;
  if (slot >= attached.size()) attached.resize(slot + 1);
  attached[slot] += int64_t{is_attached} - int64_t{was_attached};
}

void Attachments::SetLimits(uint32_t slot, const ResourceList& limits) {
  for (Driver& driver : drivers_) {
    if (slot < driver.limits.size()) driver.limits[slot] = kNoLimit;
  }
  for (const auto& [name, limit] : limits) {
    const auto [place, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(drivers_.size()));
    if (is_new) drivers_.emplace_back();
    std::vector<int64_t>& column = drivers_[place->second].limits;
    if (slot >= column.size()) column.resize(slot + 1, kNoLimit);
    column[slot] = limit;
  }
}

const Attachments::PodsBySlot* Attachments::HoldersOf(const AttachedVolume& volume) const {
  const auto found = holders_.find(volume.name);
  return found == holders_.end() ? nullptr : &found->second;
}

bool Attachments::HasRoom(std::span<const AttachedVolume> wanted, uint32_t slot) const {
  std::vector<std::pair<uint32_t, int64_t>> further;  // Volumes, by driver.
  for (const AttachedVolume& volume : wanted) {
    const PodsBySlot* const holders = HoldersOf(volume);
    if (holders != nullptr && FindSlot(*holders, slot) != holders->end()) continue;
    const auto of_driver = FindSlot(further, volume.driver);
    if (of_driver != further.end()) {
      ++of_driver->second;
    } else {
      further.emplace_back(volume.driver, 1);
    }
  }
  return std::all_of(further.begin(), further.end(), [&](const auto& each) {
    const Driver& driver = drivers_[each.first];
    return AttachedOf(driver, slot) <= LimitOf(driver, slot) - each.second;
  });
}

uint64_t Attachments::WithRoom(std::span<const AttachedVolume> wanted, size_t block,
                               uint64_t candidates) const {
  const auto first = static_cast<uint32_t>(block * kNodesPerBlock);
  uint64_t passed = candidates;
  for (const AttachedVolume& volume : wanted) {
    const int64_t count = std::count_if(wanted.begin(), wanted.end(), [&](const auto& each) {
      return each.driver == volume.driver;
    });
    const Driver& driver = drivers_[volume.driver];
    for (uint32_t i = 0; i < kNodesPerBlock && first + i < driver.limits.size(); ++i) {
      const bool is_full = driver.limits[first + i] - count < AttachedOf(driver, first + i);
      passed &= ~(uint64_t{is_full} << i);
    }
  }
  if (passed == candidates) return passed;
  // Where a volume is attached already it takes no further room.
  for (const AttachedVolume& volume : wanted) {
    const PodsBySlot* const holders = HoldersOf(volume);
    if (holders == nullptr) continue;
    for (const auto& [slot, pods] : *holders) {
      if (slot / kNodesPerBlock != block) continue;
      const uint64_t bit = uint64_t{1} << slot % kNodesPerBlock;
      if ((candidates & bit) != 0 && HasRoom(wanted, slot)) passed |= bit;
    }
  }
  return passed;
}

}  // namespace schedq
