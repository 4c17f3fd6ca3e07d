// What one object's calls are at one moment, and the word that names it.
//
// Purpose: an object's state is up to three calls: one waits, one is in flight, and one succeeded
// and was not seen yet. A state is never changed, only replaced (guarded_pool.h).
// Threads: values.
#pragma once

#include <cstdint>
#include <utility>

#include "dispatcher/api_call.h"
#include "engine/pod.h"

namespace schedq {

// A call as the pool holds it. The call that an object's word names also says which others there
// are; 0: none.
struct CallState {
  CallState(ApiCall&& content, uint32_t flight_number, uint32_t unseen_number)
      : call(std::move(content)), flight(flight_number), unseen(unseen_number) {}
  // See kWaitsSynced.
  CallState(const PodRef& seen, uint32_t number) : flight(number) { call.pod = seen; }

  ApiCall call;
  uint32_t flight = 0;  // The number of the call in flight; see also kWaitsSynced.
  uint32_t unseen = 0;  // The number of what succeeded and was not seen yet.
};
// The notes that a call has in the pool.
enum class CallNote : uint8_t {
  kDue,      // Of a call that waits: the tick.
  kStarted,  // Of a call in flight: the instant. Written by the dispatching thread only.
};
inline constexpr uint32_t kCallNotes = 2;

// The role of the call that the word names.
enum class CallStage : uint8_t {
  kNone,      // There is no call.
  kWaits,     // It waits.
  kInFlight,  // It is in flight, and none waits.
  kUnseen,    // It succeeded and was not seen yet, and there is no other.
  kApart,     // It is no call; it only says which others there are.
  // There is no other call, and the word says all that an operation must know before it ends this
  // one, so that the call is not read before it has been taken out of the word.
  kWaitsAlone,      // It waits, has no placement, and nobody listens.
  kWaitsAloneTold,  // Likewise, and somebody listens.
  // As the two above, and the object was seen since. The word names a state of which only the pod
  // and the tick count; its `flight` is the number of the call.
  kWaitsSynced,
  kWaitsSyncedTold,
  kFliesAlone,  // It is in flight.
};

class CallWord {
 public:
  // All bits zero: none.
  CallWord() = default;
  explicit CallWord(uint64_t bits) : bits_(bits) {}
  CallWord(CallStage stage, uint32_t number, CallType type = CallType::kBinding)
      : bits_(uint64_t{static_cast<uint8_t>(type)} << kTypeAt |
              uint64_t{static_cast<uint8_t>(stage)} << kStageAt | number) {}
  // The stage of a call that waits, by the numbers of the others.
  static CallStage StageOf(const ApiCall& call, uint32_t others) {
    if (others != 0 || call.placement.has_value()) return CallStage::kWaits;
    return call.listener == nullptr ? CallStage::kWaitsAlone : CallStage::kWaitsAloneTold;
  }

  // Of a word without a number.
  CallWord WithNumber(uint32_t number) const { return CallWord(bits_ | number); }

  uint64_t bits() const { return bits_; }
  uint32_t number() const { return static_cast<uint32_t>(bits_); }
  CallStage stage() const { return static_cast<CallStage>(bits_ >> kStageAt & 15); }
  bool waits_alone() const {
    return stage() >= CallStage::kWaitsAlone && stage() <= CallStage::kWaitsSyncedTold;
  }
  // Of a call that waits alone.
  bool is_told() const {
    return stage() == CallStage::kWaitsAloneTold || stage() == CallStage::kWaitsSyncedTold;
  }
  bool is_synced() const {
    return stage() == CallStage::kWaitsSynced || stage() == CallStage::kWaitsSyncedTold;
  }
  CallWord Synced(uint32_t number) const {
    return {is_told() ? CallStage::kWaitsSyncedTold : CallStage::kWaitsSynced, number, type()};
  }
  // There is no other call than the one that the word names.
  bool is_alone() const { return stage() >= CallStage::kWaitsAlone; }
  // Of a call that waits.
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
  static constexpr uint32_t kTypeAt = 36;
  static constexpr uint32_t kVersionAt = 38;
  static constexpr uint64_t kSaid = (uint64_t{1} << kVersionAt) - 1;
  static_assert(kCallTypeCount <= 4, "a type fits its bits");
  static_assert(static_cast<uint8_t>(CallStage::kFliesAlone) < 16, "a stage fits its bits");

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
