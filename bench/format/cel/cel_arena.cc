#include "bench/format/cel/cel_arena.h"

#include <algorithm>
#include <utility>

#include "bench/format/cel/device_selector.h"

namespace schedq {

void* CelArena::Allocate(size_t bytes) {
  const size_t rounded = (bytes + 15) & ~size_t{15};
  if (rounded < bytes) return nullptr;
  if (rounded > static_cast<size_t>(end_ - at_)) return AllocateBlock(rounded);
  void* const place = at_;
  at_ += rounded;
  return place;
}

void* CelArena::AllocateBlock(size_t bytes) {
  const size_t size = std::max(bytes, kBlockBytes);
  if (size > kSelectorMemoryBytesMax - std::min(bytes_, kSelectorMemoryBytesMax)) return nullptr;
  Block block{std::unique_ptr<char[]>(new char[size]), size};
  at_ = block.memory.get() + bytes;
  end_ = block.memory.get() + size;
  bytes_ += size;
  blocks_.push_back(std::move(block));
  return at_ - bytes;
}

void CelArena::Release(const Mark& mark) {
  blocks_.resize(mark.blocks);
  bytes_ = mark.bytes;
  at_ = mark.at;
  end_ = blocks_.empty() ? own_ + kOwnBytes : blocks_.back().memory.get() + blocks_.back().bytes;
}

}  // namespace schedq
