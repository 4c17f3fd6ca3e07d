// A ticket says: look at this timer then. It is what the wheel's inbox, buckets and lanes hold.
//
// A ticket is live while its timer's word (timer_word.h) names its stamp, and is dropped when met
// otherwise; so nobody has to find a ticket to take it away. Threads: a value.
#pragma once

#include <cstdint>

#include "dispatcher/timer_wheel/timer_word.h"

namespace schedq {

class Ticket {
 public:
  // None, which is also what zeroed memory holds.
  Ticket() = default;
  // The stamp counts modulo 2^TimerWord::kTickBits: the tick to look at, or a place in a lane.
  Ticket(uint32_t timer, uint64_t stamp, bool supersedes = false)
      : bits_(timer | (stamp & TimerWord::kTickMask) << kStampAt |
              uint64_t{supersedes} << kSupersedesAt | uint64_t{1} << kExistsAt) {}
  static Ticket FromBits(uint64_t bits) {
    Ticket ticket;
    ticket.bits_ = bits;
    return ticket;
  }
  uint64_t bits() const { return bits_; }

  bool exists() const { return bits_ != 0; }
  uint32_t timer() const { return static_cast<uint32_t>(bits_); }
  uint64_t stamp() const { return bits_ >> kStampAt & TimerWord::kTickMask; }
  // Another ticket of the timer went stale when this one was made.
  bool supersedes() const { return (bits_ >> kSupersedesAt & 1) != 0; }

 private:
  static constexpr uint32_t kStampAt = 32;
  static constexpr uint32_t kSupersedesAt = kStampAt + TimerWord::kTickBits;
  static constexpr uint32_t kExistsAt = kSupersedesAt + 1;

  uint64_t bits_ = 0;
};

}  // namespace schedq
