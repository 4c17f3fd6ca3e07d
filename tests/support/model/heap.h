// The heap of a model run. In a program that links the model, operator new and delete use it during
// a run, and malloc otherwise.
//
// Purpose: finds leaks, double frees, frees of memory that was never allocated, and uses after
// free, in unchanged shipped code. It can also reuse freed blocks last in, first out, to provoke
// ABA.
// When not to use it: for memory from malloc, mmap or a static, which it does not see. Memory that
// outlives a run on purpose (a cache that fills lazily) is allocated under Untracked.
// Allowed threads: the one that runs the model; other threads always use malloc.
// Invariants:
//   1. Between Begin() and the next Begin() no block is given out twice, unless recycling.
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
  kQuarantine,   // A freed address is never reused in the same schedule.
  kRecycleLifo,  // The block that was freed last is reused first.
};

// The heap's port to the run. A thread that reuses a block must learn the knowledge of the thread
// that freed it.
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
  static Heap& Get() { return instance_; }

  // Starts a run with an empty heap. Blocks of the run before must not be used any more.
  void Begin(HeapPolicy policy, HeapListener* listener);
  // Ends the run; blocks that are live then have leaked.
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
  // Stands in the granule before a block.
  struct Header {
    uint64_t magic;
    uint64_t block;
  };

  constexpr Heap() = default;
  void Map();
  void* Recycle(size_t bytes, size_t alignment);
  Block* Find(void* address);
  void Mark(const Block& block, Granule state);

  // Ready before any constructor of a static allocates.
  static Heap instance_;

  uintptr_t base_ = 0;
  size_t used_bytes_ = 0;
  uint8_t* shadow_ = nullptr;
  HeapPolicy policy_ = HeapPolicy::kQuarantine;
  HeapListener* listener_ = nullptr;
  std::vector<Block> blocks_;
  struct Returned {
    uint32_t block;
    View freed_by;  // The knowledge of the thread that freed it.
  };
  std::vector<Returned> free_;  // The oldest first; empty unless recycling.
  uint64_t live_blocks_ = 0;
};

// Whether operator new of this thread uses the heap of the run.
bool HeapTracks();
void SetHeapTracks(bool tracks);

// Within its scope, allocations do not belong to the run.
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
