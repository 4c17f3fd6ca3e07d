// Shows on pods why PreEnqueue rejects them (KEP-5501), as an observer of the queue.
//
// Purpose: a rejection becomes a condition and an event, late enough that what passes by itself is
// never sent, and only if the message is another than the pod's last one.
// When not to use it: with the gates SchedulerPreEnqueuePodStatus or SchedulerAsyncAPICalls off
// there is no reporter: an engine without observers does not work for one.
//
// Threads: the queue's, and whatever thread ends a call; nothing here waits or locks. What is
// remembered for a pod lies behind a door (call_door.h), and calls are added there, so that they
// come to the call queue in the order in which the pod's moves were heard.
// Invariants:
//  1. What is remembered for a pod is the message that it shows or will show, once every call for
//     it has succeeded.
//  2. A failed message is taken back if nothing newer was remembered since: what the pod shows is
//     then unknown, so that its next evaluation tries again, or clears what it showed before.
//  3. A failed clear is sent again after the delay, because a pod that passed may never be
//     evaluated again, until it succeeds, the pod is rejected again, or it is gone.
//  4. Both hold too where the patch was overwritten by a call that says no condition (a nomination
//     takes it along, a binding makes it vain), and that call failed.
//  5. A message or clear for which a binding or deletion left no room was not sent: what the pod
//     shows is unknown too, for its next evaluation, which comes when that call has failed.
//  6. What is heard of an older move after a newer one (see PodMove) changes nothing: the newest
//     move has the last word, whichever thread was quicker to tell.
// Memory: 32 bytes a pod number, and a note for each move that is told while another thread is at
// the same pod. Messages are remembered as 63-bit fingerprints: two messages of one pod that share
// one would count as equal.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "dispatcher/call_door.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/report/status_model.h"
#include "engine/base/segmented_array.h"
#include "engine/ports.h"

namespace schedq {

struct StatusReporterOptions {
  CallQueue<>* queue = nullptr;
  StatusModel model = StatusModel::kImplicitDelayed;
  Duration delay = std::chrono::seconds(5);
  UserMessage user_message;  // Empty: plugins say nothing apart and never opt out.
};

struct StatusCounts {
  uint64_t rejections = 0;  // PreEnqueue rejections that were heard of.
  uint64_t opted_out = 0;   // Of these, kept to itself by the plugin.
  uint64_t repeated = 0;    // Of these, nothing new.
  uint64_t overtaken = 0;   // Moves that were told of after newer ones of their pods.
  uint64_t patches = 0;     // Calls made to the API server.
  uint64_t events = 0;      // Sent with them, or with patches that took these along.
  uint64_t failed = 0;      // Of the calls made.
  uint64_t coalesced = 0;   // Patches that a newer one took the place of.
  uint64_t cancelled = 0;   // Patches that changed nothing any more.
  uint64_t outranked = 0;   // Patches for which a binding or deletion left no room.

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

  // What the pod's owner should read about this rejection; nullopt: nothing.
  std::optional<std::string> TextFor(const Pod& pod, PluginId plugin,
                                     std::string_view message) const;
  // Not a snapshot while calls end.
  StatusCounts counts() const;

 private:
  enum class NoteKind : uint8_t { kGated, kPassed, kDeleted, kFailed, kOutranked };
  // What happened to a pod.
  struct Note {
    NoteKind kind = NoteKind::kGated;
    PodRef pod;
    PodMove move;
    std::optional<std::string> text;  // Of a rejection: what the pod's owner should read.
    uint64_t tag = 0;                 // Of a call that failed or was outranked.
    Note* below = nullptr;
  };
  // Behind the door.
  struct Slot {
    CallDoor<Note> door;
    uint64_t remembered;       // See status_reporter.cc.
    uint64_t uid_fingerprint;  // Of the pod for which.
    uint32_t heard;            // The number of its newest move.
  };
  static_assert(sizeof(Slot) == 32, "two pods a cache line");

  void Hear(Note note);
  // Behind the door.
  void CarryOut(Slot& slot, const Note& note);
  void HearGated(Slot& slot, const Note& note);
  void HearPassed(Slot& slot, const Note& note);
  void HearUnsent(Slot& slot, const Note& note);

  void TellUnsent(NoteKind kind, const ApiCall& call, uint64_t tag);

  ApiCall CallFor(const PodRef& pod, PodId id, uint64_t tag);
  void SendClear(const PodRef& pod, PodId id, Duration delay);

  const StatusReporterOptions options_;
  SegmentedArray<Slot> slots_{12};

  // Counted by whoever it happens to; read by counts().
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
