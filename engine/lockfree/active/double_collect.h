// Finds out that several words all had known values at one instant.
//
// Purpose: a reader looks at many words one after another (the first collect), decides, and then
// asks whether it may pretend to have read them all at once. If each word still holds what was read
// (the second collect), then at the instant between the two collects all of them held it.
// When not to use it: for words that may return to an earlier value. Each word added here must
// never hold a value again that it has left, its lowest bit apart, which is ignored: it marks work
// in progress that changes nothing yet.
// Threads: an object belongs to one thread; the words are shared.
// Invariant: all words are read with seq_cst, so that "between the collects" is one instant for all
// threads, in the single order of these operations.
// Memory: a fixed array on the stack, of which only what was added is touched.
// Source: Y. Afek et al., Atomic Snapshots of Shared Memory, 1993 (the double collect).
#pragma once

#include <array>
#include <cstdint>

#include "engine/base/result.h"

namespace schedq {

template <template <typename> class Atom, uint32_t kWordsMax>
class DoubleCollect {
 public:
  void Clear() { count_ = 0; }

  // `value` is what a seq_cst load of `word` returned.
  void Add(const Atom<uint64_t>& word, uint64_t value) {
    SCHEDQ_CHECK(count_ < kWordsMax, "the collect is larger than its owner said");
    seen_[count_++] = {&word, value};
  }

  // Whether all words held their values at the instant at which this was called. Wait-free.
  bool StillHolds() const {
    for (uint32_t i = 0; i < count_; ++i) {
      if ((seen_[i].word->load() ^ seen_[i].value) > kIgnoredBit) return false;
    }
    return true;
  }

 private:
  struct Seen {
    const Atom<uint64_t>* word;
    uint64_t value;
  };
  static constexpr uint64_t kIgnoredBit = 1;

  uint32_t count_ = 0;
  std::array<Seen, kWordsMax> seen_;  // Not initialized on purpose: it is large.
};

}  // namespace schedq
