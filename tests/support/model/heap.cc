#include "tests/support/model/heap.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/base/sanitizers.h"

#if defined(__clang__) && (defined(SCHEDQ_ADDRESS_SANITIZER) || defined(SCHEDQ_THREAD_SANITIZER))
#error "clang links its own operator new into sanitized programs; build the model with GCC there"
#endif

namespace schedq::model {

namespace {

constexpr uint64_t kMagic = 0x6d6f64656c686561ULL;

thread_local bool heap_tracks = false;

}  // namespace

bool HeapTracks() { return heap_tracks; }
void SetHeapTracks(bool tracks) { heap_tracks = tracks; }

constinit Heap Heap::instance_;

void Heap::Map() {
  // The address is the same in every process where possible, so that a schedule can be replayed in
  // another one.
  void* wish = reinterpret_cast<void*>(0x0000'2a00'0000'0000ULL);
  void* arena = mmap(wish, kArenaBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* shadow = mmap(nullptr, kArenaBytes / kGranuleBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED || shadow == MAP_FAILED) std::abort();
  base_ = reinterpret_cast<uintptr_t>(arena);
  shadow_ = static_cast<uint8_t*>(shadow);
}

void Heap::Begin(HeapPolicy policy, HeapListener* listener) {
  if (base_ == 0) Map();
  std::memset(shadow_, kUnused, used_bytes_ / kGranuleBytes);
  used_bytes_ = 0;
  policy_ = policy;
  listener_ = listener;
  blocks_.clear();
  free_.clear();
  live_blocks_ = 0;
}

void Heap::End() { listener_ = nullptr; }

void Heap::Mark(const Block& block, Granule state) {
  const size_t first = block.offset / kGranuleBytes;
  std::memset(shadow_ + first, state, (block.bytes + kGranuleBytes - 1) / kGranuleBytes);
  std::memset(reinterpret_cast<void*>(base_ + block.offset), state == kLive ? 0xcd : 0xdd,
              block.bytes);
}

void* Heap::Recycle(size_t bytes, size_t alignment) {
  for (size_t i = free_.size(); i-- > 0;) {
    Block& block = blocks_[free_[i].block];
    if (block.bytes != bytes || (base_ + block.offset) % alignment != 0) continue;
    block.live = true;
    if (listener_ != nullptr) listener_->Learn(free_[i].freed_by);
    free_.erase(free_.begin() + static_cast<ptrdiff_t>(i));
    ++live_blocks_;
    Mark(block, kLive);
    return reinterpret_cast<void*>(base_ + block.offset);
  }
  return nullptr;
}

void* Heap::Allocate(size_t bytes, size_t alignment) {
  const Untracked untracked;
  if (bytes == 0) bytes = 1;
  if (alignment < kGranuleBytes) alignment = kGranuleBytes;
  if (policy_ == HeapPolicy::kRecycleLifo) {
    if (void* recycled = Recycle(bytes, alignment)) return recycled;
  }
  size_t offset = used_bytes_ + sizeof(Header);
  offset += (alignment - (base_ + offset) % alignment) % alignment;
  const size_t end = (offset + bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
  if (end > kArenaBytes) {
    if (listener_ != nullptr) listener_->OnHeapError("the run's memory is used up", nullptr);
    std::abort();
  }
  used_bytes_ = end;
  blocks_.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(bytes), true});
  const Header header{kMagic, blocks_.size() - 1};
  std::memcpy(reinterpret_cast<void*>(base_ + offset - sizeof(Header)), &header, sizeof(header));
  ++live_blocks_;
  Mark(blocks_.back(), kLive);
  return reinterpret_cast<void*>(base_ + offset);
}

Heap::Block* Heap::Find(void* address) {
  const size_t offset = reinterpret_cast<uintptr_t>(address) - base_;
  if (offset % kGranuleBytes != 0 || offset < sizeof(Header)) return nullptr;
  Header header;
  std::memcpy(&header, static_cast<char*>(address) - sizeof(Header), sizeof(header));
  if (header.magic != kMagic || header.block >= blocks_.size()) return nullptr;
  Block& block = blocks_[header.block];
  return block.offset == offset ? &block : nullptr;
}

void Heap::Free(void* address) {
  if (listener_ == nullptr) return;  // The block is freed after its run.
  const Untracked untracked;
  Block* block = Find(address);
  if (block == nullptr) {
    listener_->OnHeapError("free of an address that no allocation returned", address);
    return;
  }
  if (!block->live) {
    listener_->OnHeapError("double free", address);
    return;
  }
  block->live = false;
  --live_blocks_;
  Mark(*block, kFreed);
  if (policy_ == HeapPolicy::kRecycleLifo) {
    free_.push_back({static_cast<uint32_t>(block - blocks_.data()), listener_->Knowledge()});
  }
}

std::string Heap::DescribeLive() const {
  std::string text = std::to_string(live_blocks_) + " blocks leaked:";
  int shown = 0;
  for (size_t i = 0; i < blocks_.size() && shown < 8; ++i) {
    if (!blocks_[i].live) continue;
    text +=
        " allocation " + std::to_string(i) + " of " + std::to_string(blocks_[i].bytes) + " bytes;";
    ++shown;
  }
  return text;
}

namespace {

void* New(size_t bytes, size_t alignment) {
  if (heap_tracks) return Heap::Get().Allocate(bytes, alignment);
  if (bytes == 0) bytes = 1;
  void* address =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(bytes)
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (address == nullptr) std::abort();
  return address;
}

void Delete(void* address) {
  if (address == nullptr) return;
  Heap& heap = Heap::Get();
  if (heap.Owns(address)) {
    heap.Free(address);
  } else {
    std::free(address);
  }
}

}  // namespace

}  // namespace schedq::model

// The forms of new and delete that the language calls; all other forms forward to these.
void* operator new(size_t bytes) { return schedq::model::New(bytes, 1); }
void* operator new[](size_t bytes) { return schedq::model::New(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return schedq::model::New(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return schedq::model::New(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* address) noexcept { schedq::model::Delete(address); }
void operator delete[](void* address) noexcept { schedq::model::Delete(address); }
void operator delete(void* address, size_t) noexcept { schedq::model::Delete(address); }
void operator delete[](void* address, size_t) noexcept { schedq::model::Delete(address); }
void operator delete(void* address, std::align_val_t) noexcept { schedq::model::Delete(address); }
void operator delete[](void* address, std::align_val_t) noexcept { schedq::model::Delete(address); }
void operator delete(void* address, size_t, std::align_val_t) noexcept {
  schedq::model::Delete(address);
}
void operator delete[](void* address, size_t, std::align_val_t) noexcept {
  schedq::model::Delete(address);
}
