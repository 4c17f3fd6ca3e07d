#include "dispatcher/report/status_reporter.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "dispatcher/api_call.h"
#include "engine/base/atom.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"

namespace schedq {
namespace {

// What is remembered for a pod. Below kMessages: a state; from there on: a message's fingerprint.
constexpr uint64_t kUnseen = 0;   // The pod's own condition has not been read.
constexpr uint64_t kNothing = 1;  // No message.
constexpr uint64_t kUnknown = 2;  // A call failed or was not sent, so the pod may show anything.
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
  // In the other models a plugin can only show its message or show nothing.
  return IsExplicit(options_.model) ? std::move(text) : std::string(message);
}

void StatusReporter::OnGated(const PodRef& pod, PluginId plugin, std::string_view message,
                             const PodMove& move) {
  Count(rejections_);
  options_.queue->Prefetch(move.pod.id);
  Handle({.kind = NoticeKind::kGated,
          .pod = pod,
          .move = move,
          .text = TextFor(*pod, plugin, message)});
}

void StatusReporter::OnPassed(const PodRef& pod, const PodMove& move) {
  Handle({.kind = NoticeKind::kPassed, .pod = pod, .move = move, .text = {}});
}

void StatusReporter::OnDeleted(const PodRef& pod, const PodMove& move) {
  options_.queue->Prefetch(move.pod.id);
  Handle({.kind = NoticeKind::kDeleted, .pod = pod, .move = move, .text = {}});
}

void StatusReporter::Handle(Notice notice) {
  const PodId id = notice.move.pod.id;
  slots_.ReserveThrough(id);
  Slot& slot = slots_[id];
  if (slot.turn.TryBegin()) {
    HandleInTurn(slot, notice);
  } else {
    auto handed_over = std::make_unique<Notice>(std::move(notice));
    if (!slot.turn.BeginOrHandOver(handed_over)) return;
    HandleInTurn(slot, *handed_over);
  }
  slot.turn.End([&](const Notice& each) { HandleInTurn(slot, each); });
}

void StatusReporter::HandleInTurn(Slot& slot, const Notice& notice) {
  if (notice.kind == NoticeKind::kFailed || notice.kind == NoticeKind::kOutranked) {
    return HandleUnsent(slot, notice);
  }
  if (notice.move.IsOlderThan({.pod = notice.move.pod, .number = slot.newest_move})) {
    return Count(overtaken_);
  }
  slot.newest_move = notice.move.number;
  if (slot.uid_fingerprint != notice.move.pod.uid_fingerprint) {
    slot.uid_fingerprint = notice.move.pod.uid_fingerprint;
    slot.remembered = kUnseen;
  }
  if (notice.kind == NoticeKind::kDeleted) {
    slot.remembered = kUnseen;
    return options_.queue->Cancel(notice.move.pod.id);
  }
  if (slot.remembered == kUnseen) slot.remembered = FirstSight(*notice.pod);
  notice.kind == NoticeKind::kGated ? HandleGated(slot, notice) : HandlePassed(slot, notice);
}

void StatusReporter::HandleGated(Slot& slot, const Notice& notice) {
  if (!notice.text) return Count(opted_out_);
  const uint64_t wanted = Remember(*notice.text);
  if (slot.remembered == wanted) return Count(repeated_);
  slot.remembered = wanted;
  auto call = CallFor(notice.pod, notice.move.pod.id, wanted);
  call.delay = IsDelayed(options_.model) ? options_.delay : Duration(0);
  call.sends_event = true;
  call.condition = {ConditionPatch::Kind::kSet, kNotReadyReason, *notice.text};
  options_.queue->Add(std::move(call));
}

void StatusReporter::HandlePassed(Slot& slot, const Notice& notice) {
  if (std::exchange(slot.remembered, kNothing) == kNothing) return;
  SendClear(notice.pod, notice.move.pod.id,
            IsDelayed(options_.model) ? options_.delay : Duration(0));
}

// Only what was remembered for this call is forgotten or sent again: it is no longer remembered if
// the pod was evaluated since, or is gone. A call that was outranked would be outranked again.
void StatusReporter::HandleUnsent(Slot& slot, const Notice& notice) {
  if (slot.uid_fingerprint != notice.move.pod.uid_fingerprint) return;
  const bool is_clear = notice.tag == kNothing;
  const bool is_last = slot.remembered == notice.tag || (is_clear && slot.remembered == kUnknown);
  if (!is_last) return;
  slot.remembered = kUnknown;
  const bool tries_again = is_clear && notice.kind == NoticeKind::kFailed;
  if (tries_again) SendClear(notice.pod, notice.move.pod.id, options_.delay);
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
    return HandleUnsentCall(NoticeKind::kOutranked, call, call.tag);
  }
  if (end == CallEnd::kSkipped) return Count(cancelled_);
  Count(patches_);
  if (end == CallEnd::kSuccess) {
    if (call.sends_event) Count(events_);
    return;
  }
  Count(failed_);
  HandleUnsentCall(NoticeKind::kFailed, call, call.tag);
}

void StatusReporter::OnSuccessorEnd(const ApiCall& successor, uint64_t tag, const Status& status) {
  if (!status.ok()) return HandleUnsentCall(NoticeKind::kFailed, successor, tag);
  if (successor.sends_event) Count(events_);
}

void StatusReporter::HandleUnsentCall(NoticeKind kind, const ApiCall& call, uint64_t tag) {
  Handle({.kind = kind,
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
