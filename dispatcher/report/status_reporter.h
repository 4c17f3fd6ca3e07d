// Shows on pods why PreEnqueue rejects them (KEP-5501), as an observer of the queue.
//
// Purpose: a rejection becomes a condition and an event. The call is delayed, so that nothing is
// sent for a pod that passes meanwhile, and it is made only if the message differs from the pod's
// last.
// When not to use it: with the gates SchedulerPreEnqueuePodStatus or SchedulerAsyncAPICalls off.
// There is no reporter then, and an engine without observers does no work for one.
//
// Threads: the queue's, and each thread that ends a call; nothing here waits or locks. What is
// remembered for a pod is a state that is never changed, only replaced by one exchange of the pod's
// word (guarded_pool.h). The call that follows from the exchange is added only if the word is still
// as the exchange has left it (CallQueue::AddIf), so calls reach the call queue in the order of the
// exchanges. Until the call is added the word says so: a thread that finds its message remembered,
// and the call owed, adds the call itself, because the other thread may be stopped.
// Invariants:
//  1. What is remembered for a pod is the message that the pod shows or will show, once every call
//     for it has succeeded.
//  2. A message whose patch failed is forgotten, unless a newer call was asked for since, also one
//     with the same message. What the pod shows is then unknown, so that its next evaluation
//     patches again, or clears what the pod showed before.
//  3. A failed clear is sent again after the delay, because a pod that passed may never be
//     evaluated again. This ends when a clear succeeds, the pod is rejected again, or the pod is
//     gone.
//  4. Invariants 2 and 3 hold too where a call that sets no condition (a nomination, which inherits
//     the patch's condition, or a binding, which drops it) overwrote the patch and then failed.
//  5. A message or clear that a binding or deletion outranked was not sent. What the pod shows is
//     unknown then too, until the pod's next evaluation, which comes when that call has failed.
//  6. A notice of an older move that comes after that of a newer one (see PodMove) changes nothing:
//     the newest move counts, whichever thread was the first to tell of its move.
// Memory: 8 bytes a pod number, and 32 for each pod that the reporter was told of. Messages are
// remembered as 63-bit fingerprints: two messages of one pod that share a fingerprint would count
// as equal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/guarded_pool.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/result.h"
#include "engine/base/segmented_array.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"

namespace schedq {

struct StatusReporterOptions {
  CallQueue<>* queue = nullptr;
  StatusModel model = StatusModel::kImplicitDelayed;
  Duration delay = std::chrono::seconds(5);
  UserMessage user_message;  // Empty: plugins have no message for users and never opt out.
};

struct StatusCounts {
  uint64_t rejections = 0;  // PreEnqueue rejections that the reporter was told of.
  uint64_t opted_out = 0;   // Of these, those that the plugin does not show.
  uint64_t repeated = 0;    // Of these, those whose message the pod shows or will show already.
  uint64_t overtaken = 0;   // Moves that were told after newer ones of their pods.
  uint64_t patches = 0;     // Calls made to the API server.
  uint64_t events = 0;      // Sent with them, or with patches that inherited their conditions.
  uint64_t failed = 0;      // Of the calls made.
  uint64_t coalesced = 0;   // Patches that newer ones overwrote.
  uint64_t cancelled = 0;   // Patches that would have changed nothing any more.
  uint64_t outranked = 0;   // Patches that were less relevant than a binding or deletion.

  bool operator==(const StatusCounts&) const = default;
};

class StatusReporter final : public QueueObserver, public CallListener {
 public:
  explicit StatusReporter(StatusReporterOptions options);

  void OnGated(const PodRef& pod, PluginId plugin, std::string_view message,
               const PodMove& move) override;
  void OnPassed(const PodRef& pod, const PodMove& move) override;
  void OnDeleted(const PodRef& pod, const PodMove& move) override;
  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;
  void OnSuccessorEnd(const ApiCall& successor, uint64_t tag, const Status& status) override;

  // The text about this rejection for the pod's owner; nullopt: none.
  std::optional<std::string> TextFor(const Pod& pod, PluginId plugin,
                                     std::string_view message) const;
  // Not a snapshot while calls end.
  StatusCounts counts() const;

 private:
  enum class NoticeKind : uint8_t { kGated, kPassed, kDeleted, kFailed, kOutranked };
  // A notice of what happened to a pod.
  struct Notice {
    NoticeKind kind = NoticeKind::kGated;
    PodRef pod;
    PodMove move;
    std::optional<std::string> text;  // Of a rejection: for the pod's owner.
    uint64_t tag = 0;                 // Of a call that failed or was outranked: see TagOf.
  };
  // What is known of a pod. All zero: the reporter was not told of it yet.
  struct PodStatus {
    uint64_t remembered = 0;       // See status_reporter.cc.
    uint64_t uid_fingerprint = 0;  // Of the pod that it is remembered for.
    uint32_t newest_move = 0;      // The number of its newest move.
    uint32_t asked = 0;            // The number of the newest call or cancellation, modulo 2^32.

    bool operator==(const PodStatus&) const = default;
  };
  using Pool = GuardedPool<PodStatus>;
  // The word of a pod: the number of its state, whether a call is owed, and a version.
  class Word {
   public:
    explicit Word(uint64_t bits) : bits_(bits) {}
    uint64_t bits() const { return bits_; }
    Pool::Number number() const { return static_cast<Pool::Number>(bits_); }
    bool owes() const { return (bits_ >> kOwesAt & 1) != 0; }
    Word After(Pool::Number number, bool owes) const {
      const uint64_t version = (bits_ >> kVersionAt) + 1;
      return Word(number | uint64_t{owes} << kOwesAt | version << kVersionAt);
    }

   private:
    static constexpr uint32_t kOwesAt = 32;
    static constexpr uint32_t kVersionAt = 33;
    uint64_t bits_ = 0;
  };
  // What a notice leads to.
  enum class Deed : uint8_t { kNothing, kSet, kClear, kCancel };
  struct Decision {
    PodStatus next;
    Deed deed = Deed::kNothing;
    Duration delay{};
    bool is_owed = false;                      // The deed may have been another thread's.
    std::atomic<uint64_t>* counter = nullptr;  // Which of the counters it raises, if any.
  };

  void Handle(const Notice& notice);
  // False: another thread has changed what is known of the pod.
  bool TryHandle(Pool::Operation& operation, std::atomic<uint64_t>& slot, const Notice& notice);
  Decision Decide(const PodStatus& known, bool owes, const Notice& notice);
  Decision DecideByRules(const PodStatus& known, bool owes, const Notice& notice);
  Decision DecideGated(Decision decision, bool owes, const Notice& notice);
  Decision DecidePassed(Decision decision, bool owes);
  Decision DecideUnsent(const PodStatus& known, const Notice& notice);
  void Do(Pool::Operation& operation, Decision decision, const Notice& notice,
          std::atomic<uint64_t>& slot, Word mine);
  // False: another notice has been handled since `mine`.
  bool TryDo(const Decision& decision, const Notice& notice, const std::atomic<uint64_t>& slot,
             Word mine);
  // The tag of a call: which it is of the pod's, and whether it clears.
  static uint64_t TagOf(uint32_t asked, bool is_clear) {
    return uint64_t{asked} << 1 | uint64_t{is_clear};
  }
  static uint32_t AskedIn(uint64_t tag) { return static_cast<uint32_t>(tag >> 1); }
  static bool IsClear(uint64_t tag) { return (tag & 1) != 0; }

  void HandleUnsentCall(NoticeKind kind, const ApiCall& call, uint64_t tag);

  ApiCall CallFor(const PodRef& pod, PodId id, uint64_t tag);

  const StatusReporterOptions options_;
  // Words. Written by each thread whose notice changes what is known of the pod.
  SegmentedArray<std::atomic<uint64_t>> slots_{12};
  Pool states_{12};

  // Each is raised by the threads that tell of moves or end calls, and read by counts().
  std::atomic<uint64_t> rejections_{0};
  std::atomic<uint64_t> opted_out_{0};
  std::atomic<uint64_t> repeated_{0};
  std::atomic<uint64_t> overtaken_{0};
  std::atomic<uint64_t> patches_{0};
  std::atomic<uint64_t> events_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> coalesced_{0};
  std::atomic<uint64_t> cancelled_{0};
  std::atomic<uint64_t> outranked_{0};
};

}  // namespace schedq
