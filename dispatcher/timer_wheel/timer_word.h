// The atomic word of one timer: what its users want and which ticket is live.
//
// Ticks are kept modulo 2^29. Two of them compare correctly while they are within 2^28 of each
// other, which the wheel's horizon guarantees for the ticks of armed timers and of live tickets.
#pragma once

#include <cstdint>

namespace schedq {

// Where the timer's live ticket is.
enum class TimerPlace : uint8_t {
  kNowhere,  // There is none. The word has a number, so that an equal word is the same one.
  kWaits,    // It waits for its tick, or in its lane since that has come.
  kNamed,    // It waits, but the thread that named it may not have pushed it yet. The word says
             // which thread that is; the wanted tick is the ticket's own.
};

class TimerWord {
 public:
  static constexpr uint32_t kTickBits = 29;
  static constexpr uint64_t kTickMask = (uint64_t{1} << kTickBits) - 1;
  static constexpr uint32_t kLanesMax = 4;

  // All bits zero: nowhere.
  TimerWord() = default;
  explicit TimerWord(uint64_t bits) : bits_(bits) {}
  uint64_t bits() const { return bits_; }
  bool operator==(const TimerWord&) const = default;

  // Armed: the timer shall come due at `wanted` in `lane`.
  bool is_armed() const { return Get(kArmedAt, 1) != 0; }
  uint64_t wanted() const {
    return Get(place() == TimerPlace::kNamed ? kStampAt : kWantedAt, kTickBits);
  }
  uint32_t lane() const { return static_cast<uint32_t>(Get(kLaneAt, 2)); }
  TimerPlace place() const { return static_cast<TimerPlace>(Get(kPlaceAt, 2)); }
  // The live ticket's stamp: the tick at which the pump looks at the timer.
  uint64_t stamp() const { return Get(kStampAt, kTickBits); }
  // A word that names a ticket which may not have been pushed stands for every ticket of its timer:
  // the thread may be stopped, and the ticket may never come.
  bool Names(uint64_t stamp) const {
    return place() == TimerPlace::kNamed ||
           (place() == TimerPlace::kWaits && this->stamp() == stamp);
  }

  // It comes due at `tick` or before, in this lane or one of a smaller number, and its ticket has
  // been pushed.
  bool ComesBy(uint64_t tick, uint32_t lane) const {
    return place() == TimerPlace::kWaits && is_armed() && !IsBefore(tick, wanted()) &&
           this->lane() <= lane;
  }
  // The ticket that waits will do for this tick and lane.
  bool HasTicketFor(uint64_t tick, uint32_t lane) const {
    return place() == TimerPlace::kWaits && !IsBefore(tick, stamp()) && this->lane() == lane;
  }

  // `number`: another one for each such word of a wheel, up to kNowhereMax.
  static constexpr uint64_t kNowhereMax = (uint64_t{1} << 2 * kTickBits) - 1;
  static TimerWord Nowhere(uint64_t number) { return TimerWord(number & kNowhereMax); }
  // Armed for a tick, with a ticket that waits for the same.
  static TimerWord Waiting(uint64_t tick, uint32_t lane) {
    const uint64_t kept = tick & kTickMask;
    return TimerWord(kept << kWantedAt | kept << kStampAt | uint64_t{lane} << kLaneAt |
                     uint64_t{1} << kArmedAt |
                     static_cast<uint64_t>(TimerPlace::kWaits) << kPlaceAt);
  }
  // Armed for its ticket's tick by this thread, which is about to push the ticket. Only this thread
  // makes such a word, and it says that the ticket was pushed, or finds that it is too late for
  // that, before it makes another one. So an equal word is the same one.
  static TimerWord Named(uint64_t tick, uint32_t lane, uint32_t thread) {
    return Waiting(tick, lane)
        .With(kWantedAt, kTickBits, thread)
        .With(kPlaceAt, 2, static_cast<uint64_t>(TimerPlace::kNamed));
  }

  // Of a word that is named: the ticket was pushed.
  TimerWord Pushed() const {
    return With(kWantedAt, kTickBits, stamp())
        .With(kPlaceAt, 2, static_cast<uint64_t>(TimerPlace::kWaits));
  }
  // Of a word that waits: armed for this tick, with the ticket that it has; with one for this tick.
  TimerWord Armed(uint64_t tick) const {
    return With(kWantedAt, kTickBits, tick).With(kArmedAt, 1, 1);
  }
  TimerWord WaitsFor(uint64_t tick) const { return With(kStampAt, kTickBits, tick); }
  TimerWord Disarmed() const { return With(kArmedAt, 1, 0); }

  // Is a before b?
  static bool IsBefore(uint64_t a, uint64_t b) { return ((a - b) >> (kTickBits - 1) & 1) != 0; }
  // The tick nearest to `now` that `kept` stands for.
  static uint64_t Expand(uint64_t kept, uint64_t now) {
    const uint64_t distance = (kept - now) & kTickMask;
    return IsBefore(kept, now) ? now - (kTickMask + 1 - distance) : now + distance;
  }

 private:
  static constexpr uint32_t kWantedAt = 0;
  static constexpr uint32_t kStampAt = kTickBits;
  static constexpr uint32_t kLaneAt = 2 * kTickBits;
  static constexpr uint32_t kArmedAt = kLaneAt + 2;
  static constexpr uint32_t kPlaceAt = kArmedAt + 1;
  static_assert(kPlaceAt + 2 <= 64, "the fields fit the word");

  uint64_t Get(uint32_t at, uint32_t bits) const {
    return bits_ >> at & ((uint64_t{1} << bits) - 1);
  }
  TimerWord With(uint32_t at, uint32_t bits, uint64_t value) const {
    const uint64_t mask = ((uint64_t{1} << bits) - 1) << at;
    return TimerWord((bits_ & ~mask) | (value << at & mask));
  }

  uint64_t bits_ = 0;
};

}  // namespace schedq
