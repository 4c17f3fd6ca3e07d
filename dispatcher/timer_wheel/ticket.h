// A ticket tells the pump when to visit a timer. The wheel's inbox, buckets and lanes hold tickets.
//
// A ticket is live while its timer's word (timer_word.h) names its stamp. The pump drops a ticket
// that is not live when it visits it, so no thread has to find a ticket in order to remove it.
// Threads: a value.
#pragma once

#include <cstdint>

#include "dispatcher/timer_wheel/timer_word.h"

namespace schedq {

class Ticket {
 public:
  // No ticket: all bits zero, as in zeroed memory.
  Ticket() = default;
  // The stamp counts modulo 2^TimerWord::kTickBits: the tick of the visit, or a place in a lane.
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
  // Another ticket of the timer became stale when this one was made.
  bool supersedes() const { return (bits_ >> kSupersedesAt & 1) != 0; }

 private:
  static constexpr uint32_t kStampAt = 32;
  static constexpr uint32_t kSupersedesAt = kStampAt + TimerWord::kTickBits;
  static constexpr uint32_t kExistsAt = kSupersedesAt + 1;

  uint64_t bits_ = 0;
};

}  // namespace schedq
