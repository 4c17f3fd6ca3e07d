// Memory of one evaluation: allocated forward, freed at once.
//
// Purpose: lists and texts that an expression makes. The first bytes lie in the arena itself, so an
// evaluation that makes little touches no heap.
// Threads: one.
// Memory: at most kSelectorMemoryBytesMax; beyond it Allocate gives nullptr.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace schedq {

class CelArena {
 public:
  CelArena() = default;
  CelArena(const CelArena&) = delete;
  CelArena& operator=(const CelArena&) = delete;

  // Bytes aligned to 16; nullptr where the bound is reached.
  void* Allocate(size_t bytes);

  struct Mark {
    char* at;
    size_t blocks;
    size_t bytes;
  };
  Mark Now() const { return {at_, blocks_.size(), bytes_}; }
  // Frees what was allocated since the mark.
  void Release(const Mark& mark);

 private:
  static constexpr size_t kOwnBytes = 1024;
  static constexpr size_t kBlockBytes = 16 << 10;
  struct Block {
    std::unique_ptr<char[]> memory;
    size_t bytes;
  };

  void* AllocateBlock(size_t bytes);

  alignas(16) char own_[kOwnBytes];
  char* at_ = own_;
  char* end_ = own_ + kOwnBytes;
  size_t bytes_ = 0;  // Of all blocks.
  std::vector<Block> blocks_;
};

}  // namespace schedq
