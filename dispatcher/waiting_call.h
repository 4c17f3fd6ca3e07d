// The call that waits for an object, inside the object's slot.
//
// Purpose: to add, overwrite or drop a call allocates nothing and follows no pointer. A summary
// word in front answers the frequent questions, so that dropping a call that owns no memory does
// not touch the cache line behind the word. When not to use it: outside of memory that starts as
// zero bytes.
// Threads: one at a time. Memory: that of a CallContent and 8 bytes.
// Invariant: all bytes zero means that no call waits. The owner empties the slot before its memory
// is freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "dispatcher/api_call.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/pod.h"

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
  CallContent Remove() {
    CallContent removed(std::move(content()));
    Drop();
    return removed;
  }
  void Drop() {
    if ((summary_ & kOwnsMemory) != 0) {
      content().~CallContent();
    } else {
      // See OwnsMemory: the other members have nothing to give back.
      content().pod.~PodRef();
    }
    summary_ = 0;
  }

 private:
  static constexpr uint64_t kTypeMask = 3;
  static_assert(kCallTypeCount <= kTypeMask + 1, "a type fits its bits");
  static constexpr uint64_t kOwnsMemory = 4;
  static constexpr uint64_t kExists = 8;
  static constexpr uint32_t kDueAt = 4;

  template <typename... Members>
  static constexpr bool kNeedNoDestructor =
      (std::is_trivially_destructible_v<std::remove_reference_t<Members>> && ...);

  // Whether anything but the pod's reference must be given back. Both lists of members fail to
  // compile when a member is added, so that a new one is not forgotten here.
  static bool OwnsMemory(const CallContent& content) {
    const auto& [pod, listener, tag, condition, type, sends_event, object, placement] = content;
    static_assert(kNeedNoDestructor<decltype(listener), decltype(tag), decltype(type),
                                    decltype(sends_event), decltype(object)>,
                  "Drop destroys the pod, the message and the placement only");
    static_assert(sizeof(placement) == sizeof(void*), "a placement that is absent owns nothing");
    const auto& [reason, message, kind] = condition;
    static_assert(kNeedNoDestructor<decltype(reason), decltype(kind)>,
                  "of a condition, Drop destroys the message only");
    // A string whose text is inside itself has no memory on the heap.
    const uintptr_t distance =
        reinterpret_cast<uintptr_t>(message.data()) - reinterpret_cast<uintptr_t>(&message);
    return distance >= sizeof(message) || placement.has_value();
  }

  uint64_t summary_ = 0;  // The tick that it is due, whether it exists and owns memory, its type.
  alignas(CallContent) std::byte memory_[sizeof(CallContent)];
};
static_assert(std::is_trivially_destructible_v<WaitingCall>, "it is in zeroed memory");
static_assert(sizeof(WaitingCall) == sizeof(uint64_t) + sizeof(CallContent),
              "the summary is in front of the content, without a gap");

}  // namespace schedq
