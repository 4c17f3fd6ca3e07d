// Which of up to 33 members may hold entries: a hint that never hides one.
//
// Purpose: a popper reads one word and skips all members that are idle. A pusher reads one word and
// changes it only when its member was idle.
// When not to use it: where members turn empty and full all the time. Clear costs two exchanges, so
// members are to be cleared only after they were idle for a while.
// Threads: all operations from any thread.
// Invariants:
//  1. A member is *in* the word if its bit is set or the word names it as being cleared.
//  2. From the return of Mark until a Clear that finds the member empty, the member is in the word.
//     For a clearer drops the bit and names the member in one exchange and then looks whether the
//     member is empty; a pusher puts its entry in and then looks at the bit; all with seq_cst. If
//     the pusher still saw the bit, its entry was in before the bit dropped, so the clearer sees
//     it and sets the bit again before it withdraws the name. If not, the pusher sets the bit.
//  3. One clearer at a time: the name is given only while there is none, and only the thread that
//     gave it withdraws it. A clearer that stalls leaves its member in the word, which costs a pop
//     one look at an empty place.
//  4. The word never returns to an earlier value (what DoubleCollect asks for), because each Clear
//     raises a count; unless 2^24 of them fall between two reads by one thread.
// Memory: one word.
#pragma once

#include <cstdint>

namespace schedq {

template <template <typename> class Atom>
class OccupancyWord {
 public:
  static constexpr uint32_t kMembersMax = 33;

  // Wait-free. Linearization point: the load.
  uint64_t Load() const { return word_.load(); }
  const Atom<uint64_t>& word() const { return word_; }

  // The members in a loaded word, member i as bit i.
  static uint64_t MembersIn(uint64_t word) {
    const uint64_t name = word >> kNameShift & kNameMask;
    return (word >> 1 & kBitsMask) | (name == 0 ? 0 : uint64_t{1} << (name - 1));
  }

  // After an entry was put into `member`. Wait-free.
  void Mark(uint32_t member) {
    if ((word_.load() & BitOf(member)) == 0) word_.fetch_or(BitOf(member));
  }

  // Takes `member` out if is_empty() holds after its bit was dropped, unless another thread clears.
  // Wait-free. Linearization point: where the name is withdrawn.
  template <typename IsEmpty>
  void Clear(uint32_t member, IsEmpty is_empty) {
    uint64_t word = word_.load();
    if ((word & BitOf(member)) == 0 || (word >> kNameShift & kNameMask) != 0) return;
    const uint64_t named = (word & ~BitOf(member)) | (uint64_t{member} + 1) << kNameShift;
    if (!word_.compare_exchange_strong(word, named + kOneClear)) return;
    if (!is_empty()) word_.fetch_or(BitOf(member));
    word_.fetch_and(~(kNameMask << kNameShift));
  }

 private:
  // Bit 0 is unused (DoubleCollect ignores it); then the members' bits, the name of the member that
  // is being cleared (0: none, else member + 1), and the count of clears.
  static constexpr uint64_t kBitsMask = (uint64_t{1} << kMembersMax) - 1;
  static constexpr uint32_t kNameShift = 1 + kMembersMax;
  static constexpr uint64_t kNameMask = 63;
  static constexpr uint64_t kOneClear = uint64_t{1} << (kNameShift + 6);

  static constexpr uint64_t BitOf(uint32_t member) { return uint64_t{2} << member; }

  // Written by pushers into idle members and by clearers; read by all, stale only as a hint.
  Atom<uint64_t> word_{0};
};

}  // namespace schedq
