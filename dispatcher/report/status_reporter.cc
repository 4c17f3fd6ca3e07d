#include "dispatcher/report/status_reporter.h"

#include <memory>
#include <utility>

#include "engine/pod_key.h"

namespace schedq {
namespace {

// What is remembered for a pod. Below kMessages: a state; from there on: a message's fingerprint.
constexpr uint64_t kUnseen = 0;   // The pod's own condition has not been looked at.
constexpr uint64_t kNothing = 1;  // No message.
constexpr uint64_t kUnknown = 2;  // A call failed or was not sent: the pod may show anything.
constexpr uint64_t kMessages = 4;

uint64_t Remember(std::string_view message) { return UidFingerprint(message) | kMessages; }

uint64_t FirstSight(const Pod& pod) {
  const PodCondition* shown = UnscheduledCondition(pod);
  return shown == nullptr || shown->message.empty() ? kNothing : Remember(shown->message);
}

void Count(std::atomic<uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

StatusReporter::StatusReporter(StatusReporterOptions options) : options_(std::move(options)) {}

std::optional<std::string> StatusReporter::TextFor(const Pod& pod, PluginId plugin,
                                                   std::string_view message) const {
  if (!HasOptOut(options_.model) || !options_.user_message) return std::string(message);
  std::string text = options_.user_message(pod, plugin, message);
  if (text.empty()) return std::nullopt;
  // A plugin that says nothing apart can only say all or nothing.
  return IsExplicit(options_.model) ? std::move(text) : std::string(message);
}

void StatusReporter::OnGated(const PodRef& pod, PluginId plugin, std::string_view message,
                             const PodMove& move) {
  Count(rejections_);
  options_.queue->Expect(move.pod.id);
  Hear(
      {.kind = NoteKind::kGated, .pod = pod, .move = move, .text = TextFor(*pod, plugin, message)});
}

void StatusReporter::OnPassed(const PodRef& pod, const PodMove& move) {
  Hear({.kind = NoteKind::kPassed, .pod = pod, .move = move, .text = {}});
}

void StatusReporter::OnDeleted(const PodRef& pod, const PodMove& move) {
  options_.queue->Expect(move.pod.id);
  Hear({.kind = NoteKind::kDeleted, .pod = pod, .move = move, .text = {}});
}

void StatusReporter::Hear(Note note) {
  const PodId id = note.move.pod.id;
  slots_.ReserveThrough(id);
  Slot& slot = slots_[id];
  if (slot.door.TryEnter()) {
    CarryOut(slot, note);
  } else {
    auto left = std::make_unique<Note>(std::move(note));
    if (!slot.door.EnterOrLeave(left)) return;
    CarryOut(slot, *left);
  }
  slot.door.Leave([&](const Note& each) { CarryOut(slot, each); });
}

void StatusReporter::CarryOut(Slot& slot, const Note& note) {
  if (note.kind == NoteKind::kFailed || note.kind == NoteKind::kOutranked) {
    return HearUnsent(slot, note);
  }
  if (note.move.IsOlderThan({.pod = note.move.pod, .number = slot.heard})) {
    return Count(overtaken_);
  }
  slot.heard = note.move.number;
  if (slot.uid_fingerprint != note.move.pod.uid_fingerprint) {
    slot.uid_fingerprint = note.move.pod.uid_fingerprint;
    slot.remembered = kUnseen;
  }
  if (note.kind == NoteKind::kDeleted) {
    slot.remembered = kUnseen;
    return options_.queue->Cancel(note.move.pod.id);
  }
  if (slot.remembered == kUnseen) slot.remembered = FirstSight(*note.pod);
  note.kind == NoteKind::kGated ? HearGated(slot, note) : HearPassed(slot, note);
}

void StatusReporter::HearGated(Slot& slot, const Note& note) {
  if (!note.text) return Count(opted_out_);
  const uint64_t wanted = Remember(*note.text);
  if (slot.remembered == wanted) return Count(repeated_);
  slot.remembered = wanted;
  auto call = CallFor(note.pod, note.move.pod.id, wanted);
  call.delay = IsDelayed(options_.model) ? options_.delay : Duration(0);
  call.sends_event = true;
  call.condition = {ConditionPatch::Kind::kSet, kNotReadyReason, *note.text};
  options_.queue->Add(std::move(call));
}

void StatusReporter::HearPassed(Slot& slot, const Note& note) {
  if (std::exchange(slot.remembered, kNothing) == kNothing) return;
  SendClear(note.pod, note.move.pod.id, IsDelayed(options_.model) ? options_.delay : Duration(0));
}

// Only what was remembered for this call is taken back or tried again: a pod that was evaluated
// since, or has gone, has moved on. What was outranked would be so again.
void StatusReporter::HearUnsent(Slot& slot, const Note& note) {
  if (slot.uid_fingerprint != note.move.pod.uid_fingerprint) return;
  const bool is_clear = note.tag == kNothing;
  const bool is_last = slot.remembered == note.tag || (is_clear && slot.remembered == kUnknown);
  if (!is_last) return;
  slot.remembered = kUnknown;
  const bool tries_again = is_clear && note.kind == NoteKind::kFailed;
  if (tries_again) SendClear(note.pod, note.move.pod.id, options_.delay);
}

ApiCall StatusReporter::CallFor(const PodRef& pod, PodId id, uint64_t tag) {
  ApiCall call;
  call.object = id;
  call.type = CallType::kStatusPatch;
  call.pod = pod;
  call.listener = this;
  call.tag = tag;
  return call;
}

void StatusReporter::SendClear(const PodRef& pod, PodId id, Duration delay) {
  auto call = CallFor(pod, id, kNothing);
  call.delay = delay;
  call.condition.kind = ConditionPatch::Kind::kClear;
  options_.queue->Add(std::move(call));
}

void StatusReporter::OnEnd(const ApiCall& call, CallEnd end, const Status& status) {
  if (end == CallEnd::kOverwritten) return Count(coalesced_);
  if (WasOutranked(end, status)) {
    Count(outranked_);
    return TellUnsent(NoteKind::kOutranked, call, call.tag);
  }
  if (end == CallEnd::kSkipped) return Count(cancelled_);
  Count(patches_);
  if (end == CallEnd::kSuccess) {
    if (call.sends_event) Count(events_);
    return;
  }
  Count(failed_);
  TellUnsent(NoteKind::kFailed, call, call.tag);
}

void StatusReporter::OnSuccessorEnd(const ApiCall& successor, uint64_t tag, const Status& status) {
  if (!status.ok()) return TellUnsent(NoteKind::kFailed, successor, tag);
  if (successor.sends_event) Count(events_);
}

void StatusReporter::TellUnsent(NoteKind kind, const ApiCall& call, uint64_t tag) {
  Hear({.kind = kind,
        .pod = call.pod,
        .move = {.pod = {call.object, UidFingerprint(call.pod->uid)}},
        .text = {},
        .tag = tag});
}

StatusCounts StatusReporter::counts() const {
  StatusCounts counts;
  counts.rejections = LoadRelaxed(rejections_);
  counts.opted_out = LoadRelaxed(opted_out_);
  counts.repeated = LoadRelaxed(repeated_);
  counts.overtaken = LoadRelaxed(overtaken_);
  counts.patches = LoadRelaxed(patches_);
  counts.events = LoadRelaxed(events_);
  counts.failed = LoadRelaxed(failed_);
  counts.coalesced = LoadRelaxed(coalesced_);
  counts.cancelled = LoadRelaxed(cancelled_);
  counts.outranked = LoadRelaxed(outranked_);
  return counts;
}

}  // namespace schedq
