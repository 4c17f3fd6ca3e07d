// The call that waits for an object, inside the object's slot.
//
// Purpose: adding, overwriting and dropping a call allocates nothing and follows no pointer. A
// summary in front says what is asked most, so that dropping a call that owns no memory does not
// touch the cache line behind it. When not to use it: outside of memory that starts as zero bytes.
// Threads: one at a time. Memory: that of a CallContent and 8 bytes.
// Invariant: all bytes zero is a slot where nothing waits; its owner empties it before it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "dispatcher/api_call.h"
#include "dispatcher/timer_wheel/tick_buckets.h"

namespace schedq {

class WaitingCall {
 public:
  bool exists() const { return (summary_ & kExists) != 0; }

  // All below: it exists.
  Tick due() const { return summary_ >> kDueAt; }
  CallType type() const { return static_cast<CallType>(summary_ & kTypeMask); }
  CallContent& content() { return *std::launder(reinterpret_cast<CallContent*>(memory_)); }
  const CallContent& content() const {
    return *std::launder(reinterpret_cast<const CallContent*>(memory_));
  }

  // It must not exist.
  void Put(CallContent&& content, Tick due) {
    summary_ = due << kDueAt | (OwnsMemory(content) ? kOwnsMemory : 0) | kExists |
               static_cast<uint64_t>(content.type);
    ::new (static_cast<void*>(memory_)) CallContent(std::move(content));
  }
  CallContent Take() {
    CallContent taken(std::move(content()));
    Drop();
    return taken;
  }
  void Drop() {
    if ((summary_ & kOwnsMemory) != 0) {
      content().~CallContent();
    } else {
      // All the rest has nothing to give back.
      content().pod.~PodRef();
    }
    summary_ = 0;
  }

 private:
  static constexpr uint64_t kTypeMask = 3;
  static constexpr uint64_t kOwnsMemory = 4;
  static constexpr uint64_t kExists = 8;
  static constexpr uint32_t kDueAt = 4;

  static bool OwnsMemory(const CallContent& content) {
    // A short string lies inside itself.
    const std::string& message = content.condition.message;
    const uintptr_t distance =
        reinterpret_cast<uintptr_t>(message.data()) - reinterpret_cast<uintptr_t>(&message);
    return distance >= sizeof(message) || content.placement.has_value();
  }

  uint64_t summary_ = 0;  // The tick that it is due, whether it exists and owns memory, its type.
  alignas(CallContent) std::byte memory_[sizeof(CallContent)];
};
static_assert(std::is_trivially_destructible_v<WaitingCall>, "it lives in zeroed memory");

}  // namespace schedq
