// What one object's calls are at one moment, and the word that names it.
//
// Purpose: an object's state is up to three calls: one waits, one is in flight, and one succeeded
// and was not seen yet. A state is never changed, only replaced (guarded_pool.h).
// Threads: values.
#pragma once

#include <cstdint>

#include "dispatcher/api_call.h"
#include "dispatcher/timer_wheel/tick_buckets.h"

namespace schedq {

// A call as the pool holds it. The call that an object's word names also says which others there
// are; 0: none.
struct CallState {
  ApiCall call;
  Tick due = 0;         // Of a call that waits.
  uint32_t flight = 0;  // The number of the call in flight.
  uint32_t unseen = 0;  // The number of what succeeded and was not seen yet.
};

// The role of the call that the word names.
enum class CallStage : uint8_t {
  kNone,      // There is no call.
  kWaits,     // It waits.
  kInFlight,  // It is in flight, and none waits.
  kUnseen,    // It succeeded and was not seen yet, and there is no other.
  kApart,     // It is no call; it only says which others there are.
};

class CallWord {
 public:
  // All bits zero: none.
  CallWord() = default;
  explicit CallWord(uint64_t bits) : bits_(bits) {}
  CallWord(CallStage stage, uint32_t number)
      : bits_(uint64_t{static_cast<uint8_t>(stage)} << kStageAt | number) {}
  // A waiting call about which all is said: there is no other call, and nobody listens.
  static CallWord Plain(CallType type, uint32_t number) {
    return CallWord(CallWord(CallStage::kWaits, number).bits_ |
                    uint64_t{static_cast<uint8_t>(type)} << kTypeAt | uint64_t{1} << kPlainAt);
  }

  uint64_t bits() const { return bits_; }
  uint32_t number() const { return static_cast<uint32_t>(bits_); }
  CallStage stage() const { return static_cast<CallStage>(bits_ >> kStageAt & 7); }
  bool is_plain() const { return (bits_ >> kPlainAt & 1) != 0; }
  // Of a plain one.
  CallType type() const { return static_cast<CallType>(bits_ >> kTypeAt & 3); }

  // As the word that replaces `before`. Each change gives the word another version, also where it
  // says the same, unless 2^26 changes fall into one step of one thread.
  CallWord After(CallWord before) const {
    const uint64_t version = (before.bits_ >> kVersionAt) + 1;
    return CallWord((bits_ & kSaid) | version << kVersionAt);
  }
  bool operator==(const CallWord&) const = default;

 private:
  static constexpr uint32_t kStageAt = 32;
  static constexpr uint32_t kTypeAt = 35;
  static constexpr uint32_t kPlainAt = 37;
  static constexpr uint32_t kVersionAt = 38;
  static constexpr uint64_t kSaid = (uint64_t{1} << kVersionAt) - 1;
  static_assert(kCallTypeCount <= 4, "a type fits its bits");

  uint64_t bits_ = 0;
};

// The numbers of an object's calls; 0: none.
struct CallNumbers {
  uint32_t waiting = 0;
  uint32_t flight = 0;
  uint32_t unseen = 0;

  bool Has(uint32_t number) const {
    return number == waiting || number == flight || number == unseen;
  }
};

}  // namespace schedq
