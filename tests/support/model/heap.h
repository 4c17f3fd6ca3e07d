// The memory that a model run allocates: operator new and delete of a program that links the model
// come here while a run is on, and go to malloc otherwise.
//
// Purpose: find leaks, double frees, frees of what was never allocated, and uses after free, in
// shipped code as it stands; and give back freed blocks last in, first out to provoke ABA.
// When not to use it: memory from malloc, mmap or a static is not seen. What a run leaves behind on
// purpose (a cache that fills lazily) is allocated under Untracked.
// Allowed threads: the one that runs the model; others always get malloc.
// Invariants:
//   1. Between Begin() and the next Begin() no block is handed out twice, unless recycling.
//   2. Freed memory stays readable and is filled with 0xDD; new memory is filled with 0xCD.
// Memory bound: kArenaBytes of address space; a run that needs more fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/model/clock.h"

namespace schedq::model {

enum class HeapPolicy {
  kQuarantine,   // a freed address never comes back in the same schedule
  kRecycleLifo,  // the block freed last comes back first
};

// What Heap asks of the run: who frees knows something that who allocates again must learn.
class HeapListener {
 public:
  virtual void OnHeapError(const char* what, const void* address) = 0;
  virtual const View& Knowledge() = 0;
  virtual void Learn(const View& view) = 0;

 protected:
  ~HeapListener() = default;
};

class Heap {
 public:
  static Heap& Get();

  // Starts a run with an empty heap. Nobody may touch blocks of the run before.
  void Begin(HeapPolicy policy, HeapListener* listener);
  // The run is over; live blocks are whatever leaked.
  void End();

  void* Allocate(size_t bytes, size_t alignment);
  void Free(void* address);

  bool Owns(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at - base_ < used_bytes_;
  }
  // Whether the address lies in a block that has been freed.
  bool IsFreed(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at - base_ < used_bytes_ && shadow_[(at - base_) / kGranuleBytes] == kFreed;
  }

  uint64_t live_blocks() const { return live_blocks_; }
  // "2 blocks: #4 of 48 bytes, #9 of 16 bytes".
  std::string DescribeLive() const;

  static constexpr size_t kArenaBytes = size_t{64} << 20;

 private:
  static constexpr size_t kGranuleBytes = 16;
  enum Granule : uint8_t { kUnused, kLive, kFreed };

  struct Block {
    uint32_t offset;
    uint32_t bytes;
    bool live;
  };
  // In the granule before a block.
  struct Header {
    uint64_t magic;
    uint64_t block;
  };

  Heap() = default;
  void Map();
  void* Recycle(size_t bytes, size_t alignment);
  Block* Find(void* address);
  void Mark(const Block& block, Granule state);

  uintptr_t base_ = 0;
  size_t used_bytes_ = 0;
  uint8_t* shadow_ = nullptr;
  HeapPolicy policy_ = HeapPolicy::kQuarantine;
  HeapListener* listener_ = nullptr;
  std::vector<Block> blocks_;
  struct Returned {
    uint32_t block;
    View freed_by;  // what the thread that freed it knew
  };
  std::vector<Returned> free_;  // oldest first; only when recycling
  uint64_t live_blocks_ = 0;
};

// Whether operator new of this thread goes to the heap of the run.
bool HeapTracks();
void SetHeapTracks(bool tracks);

// Within its scope allocations are not those of the run.
class Untracked {
 public:
  Untracked() : before_(HeapTracks()) { SetHeapTracks(false); }
  ~Untracked() { SetHeapTracks(before_); }
  Untracked(const Untracked&) = delete;
  Untracked& operator=(const Untracked&) = delete;

 private:
  bool before_;
};

}  // namespace schedq::model
