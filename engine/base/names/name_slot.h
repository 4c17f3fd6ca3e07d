// A slot of the interner and the text in it. See interner.h for the invariants.
//
// Why texts are atomic words: a reader may compare a text while another thread overwrites it. The
// slot's generation tells the reader afterwards that the comparison means nothing.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "engine/base/atom.h"
#include "engine/base/index_pool.h"
#include "engine/base/names/packed_text.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"
#include "engine/base/zeroed_memory.h"

namespace schedq {

inline constexpr size_t kInlineTextWords = 4;

// Generation above, 28 bits of references below.
class NameState {
 public:
  static constexpr uint64_t kReferencesMax = (uint64_t{1} << 28) - 1;

  explicit NameState(uint64_t word) : word_(word) {}
  uint64_t word() const { return word_; }
  uint64_t references() const { return word_ & kReferencesMax; }
  uint64_t generation() const { return word_ >> 28; }
  NameState NextGeneration() const { return NameState(((generation() + 1) << 28) | 1); }

 private:
  uint64_t word_;
};

template <template <typename> class Atom>
class alignas(kCacheLineBytes) NameSlot {
 public:
  // Written by threads that hold or take a reference, and when a generation begins by the slot's
  // owner. A stale reader's exchange fails. Acquire pairs with the releases in BeginGeneration and
  // in every DropReference: without it a helper could free a text that is still being read.
  NameState LoadState() const { return NameState(LoadAcquire(state_)); }

  // Adds a reference to the generation of `seen`. False: that generation is dead. Relaxed: an
  // exchange reads the newest state; the link that led here published the text; and the text of a
  // later generation is written after the reference that is added here was released.
  bool AddReferenceTo(NameState seen) {
    uint64_t word = seen.word();
    while (NameState(word).references() != 0 && NameState(word).generation() == seen.generation()) {
      CheckRoom(word);
      if (state_.compare_exchange_weak(word, word + 1, std::memory_order_relaxed)) {
        text_use_.Read();
        return true;
      }
    }
    return false;
  }
  // For a caller that holds a reference, so there is nothing to order.
  void AddReference() { CheckRoom(state_.fetch_add(1, std::memory_order_relaxed)); }
  // True: it was the last reference. Release pairs with the acquire of LoadState, by which a thread
  // finds the slot dead: without it the holder's reads of the text could come after its reuse.
  bool DropReference() {
    text_use_.Read();
    const NameState before(state_.fetch_sub(1, std::memory_order_release));
    SCHEDQ_CHECK(before.references() != 0, "a name was released more often than acquired");
    return before.references() == 1;
  }
  // By the owner of a free slot, before it writes anything else: a helper that sees the new link
  // must see that the old generation is over.
  void BeginGeneration() {
    state_.store(NameState(LoadRelaxed(state_)).NextGeneration().word(), std::memory_order_release);
  }
  // By the owner of a slot that was never linked. Relaxed: a thread that sees it also sees the
  // generation's beginning, because a subtraction continues what BeginGeneration released.
  void EndGeneration() { state_.fetch_sub(1, std::memory_order_relaxed); }

  // Written when a generation begins, by the slot's owner. Acquire and release: a reader that sees
  // a later generation's value must see in its next read of the list that the slot was unlinked.
  uint64_t LoadOrder() const { return LoadAcquire(order_); }
  void StoreOrder(uint64_t order) { StoreRelease(order_, order); }
  uint64_t LoadText() const { return LoadAcquire(text_); }
  void StoreText(uint64_t text) {
    text_use_.Write();
    StoreRelease(text_, text);
  }

  Atom<uint64_t>& link() { return link_; }
  Atom<uint64_t>* inline_words() { return words_.data(); }
  const Atom<uint64_t>* inline_words() const { return words_.data(); }
  Atom<uint64_t>& FreeLink() { return words_[0]; }

 private:
  static void CheckRoom(uint64_t before) {
    const uint64_t references = NameState(before).references();
    SCHEDQ_CHECK(references != 0 && references < NameState::kReferencesMax,
                 "a name is retained without a reference, or has 2^28 of them");
  }

  Atom<uint64_t> state_;
  Atom<uint64_t> link_;   // NameLink; interner.h says which threads write it.
  Atom<uint64_t> order_;  // Place in the list: the hash with the lowest bit set.
  Atom<uint64_t> text_;   // TextPlace.
  std::array<Atom<uint64_t>, kInlineTextWords> words_;
  // Written by the thread that stores the slot's text, read by the holders of references.
  [[no_unique_address]] typename Seam<Atom>::Footprint text_use_;
};
static_assert(sizeof(NameSlot<std::atomic>) == kCacheLineBytes, "a lookup costs one line a slot");

// Where a text is, in one word so that a late reader never reads beyond a block: bits 0-23 its size
// in bytes, 24-28 its class (0 inline, else blocks of 2^(class+2) words), 32-63 the block.
class TextPlace {
 public:
  static constexpr size_t kSizeMax = (size_t{1} << 24) - 1;

  explicit TextPlace(uint64_t word) : word_(word) {}
  TextPlace(size_t size, uint32_t size_class, uint32_t block)
      : word_(uint64_t{block} << 32 | uint64_t{size_class} << 24 | size) {}

  uint64_t word() const { return word_; }
  size_t size() const { return word_ & kSizeMax; }
  size_t size_words() const { return (size() + 7) / 8; }
  uint32_t size_class() const { return (word_ >> 24) & 31; }
  uint32_t block() const { return static_cast<uint32_t>(word_ >> 32); }

  static uint32_t ClassFor(size_t words) {
    if (words <= kInlineTextWords) return 0;
    return static_cast<uint32_t>(std::bit_width(words - 1)) - 2;
  }
  static size_t BlockWords(uint32_t size_class) { return size_t{1} << (size_class + 2); }

 private:
  uint64_t word_;
};

// The texts of slots: inline, or in blocks whose memory always stays blocks of one size.
// Threads: Store and Drop by a slot's owner; Equals from any thread; View by holders of a
// reference.
template <template <typename> class Atom>
class NameTexts {
 public:
  using Slot = NameSlot<Atom>;

  ~NameTexts() {
    // Relaxed: every thread that used the texts has synchronized with the destructor's thread.
    for (Atom<Blocks*>& blocks : blocks_) delete LoadRelaxed(blocks);
  }

  void Store(Slot& slot, const PackedText& text) {
    SCHEDQ_CHECK(text.size() <= TextPlace::kSizeMax, "the interner refuses longer texts");
    const uint32_t size_class = TextPlace::ClassFor(text.words().size());
    const uint32_t block = size_class == 0 ? 0 : BlocksOf(size_class).Allocate();
    const TextPlace place(text.size(), size_class, block);
    Atom<uint64_t>* const words = Words(slot, place);
    for (size_t word = 0; word < text.words().size(); ++word) {
      StoreRelease(words[word], text.words()[word]);
    }
    slot.StoreText(place.word());
  }

  void Drop(Slot& slot) {
    const TextPlace place(slot.LoadText());
    if (place.size_class() != 0) LoadBlocks(place.size_class())->Free(place.block());
  }

  // The answer is valid only if the slot's generation is the same before and after.
  bool Equals(Slot& slot, const PackedText& text) const {
    const TextPlace place(slot.LoadText());
    if (place.size() != text.size()) return false;
    const Atom<uint64_t>* const words = Words(slot, place);
    for (size_t word = 0; word < text.words().size(); ++word) {
      if (LoadAcquire(words[word]) != text.words()[word]) return false;
    }
    return true;
  }

  std::string_view View(Slot& slot) const {
    static_assert(std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>>,
                  "only shipped words are laid out as their bytes");
    static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t) &&
                      std::endian::native == std::endian::little,
                  "the bytes of packed words are the text");
    const TextPlace place(slot.LoadText());
    return {reinterpret_cast<const char*>(Words(slot, place)), place.size()};
  }

 private:
  // Blocks of one size: the pool numbers them, the array holds their words side by side.
  class Blocks {
   public:
    explicit Blocks(uint32_t size_class)
        : words_per_block_(TextPlace::BlockWords(size_class)),
          pool_(kFirstBits),
          words_(kFirstBits + size_class + 2) {}

    uint32_t Allocate() {
      const uint32_t block = pool_.Allocate();
      words_.Reserve(block * words_per_block_);
      return block;
    }
    void Free(uint32_t block) { pool_.Free(block); }
    Atom<uint64_t>* Words(uint32_t block) const { return &words_[block * words_per_block_]; }

   private:
    static constexpr uint32_t kFirstBits = 4;
    struct Link {
      Atom<uint64_t> word;
      Atom<uint64_t>& FreeLink() { return word; }
    };

    const size_t words_per_block_;
    IndexPool<Link, Atom> pool_;
    SegmentedArray<Atom<uint64_t>, Atom> words_;
  };

  Atom<uint64_t>* Words(Slot& slot, TextPlace place) const {
    return place.size_class() == 0 ? slot.inline_words()
                                   : LoadBlocks(place.size_class())->Words(place.block());
  }

  // Acquire pairs with the release of the thread that made the blocks of this size.
  Blocks* LoadBlocks(uint32_t size_class) const { return LoadAcquire(blocks_[size_class]); }

  Blocks& BlocksOf(uint32_t size_class) {
    Blocks* blocks = LoadBlocks(size_class);
    if (blocks != nullptr) return *blocks;
    // Release publishes the blocks. Acquire is for a thread that loses and uses the winner's
    // blocks.
    auto made = std::make_unique<Blocks>(size_class);
    if (blocks_[size_class].compare_exchange_strong(blocks, made.get(), std::memory_order_release,
                                                    std::memory_order_acquire)) {
      return *made.release();
    }
    return *blocks;
  }

  // By class; each is written once, by the first thread that needs the size.
  std::array<Atom<Blocks*>, 32> blocks_{};
};

}  // namespace schedq
