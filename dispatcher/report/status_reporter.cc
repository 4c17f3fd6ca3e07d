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

void StatusReporter::Handle(const Notice& notice) {
  const PodId id = notice.move.pod.id;
  slots_.ReserveThrough(id);
  Pool::Operation operation(states_);
  while (!TryHandle(operation, slots_[id], notice)) {
  }
}

bool StatusReporter::TryHandle(Pool::Operation& operation, std::atomic<uint64_t>& slot,
                               const Notice& notice) {
  const Word before(slot.load());
  operation.Guard(0, before.number());
  if (slot.load() != before.bits()) return false;
  const PodStatus known = before.number() == 0 ? PodStatus() : states_[before.number()];
  const Decision decision = Decide(known, before.owes(), notice);
  Word mine = before;
  if (!(decision.next == known) || decision.is_owed) {
    const Pool::Number number = operation.Make(PodStatus(decision.next));
    mine = before.After(number, decision.is_owed || before.owes());
    uint64_t bits = before.bits();
    if (!slot.compare_exchange_strong(bits, mine.bits())) {
      operation.Discard(number);
      return false;
    }
    if (before.number() != 0) operation.Retire(before.number());
  }
  if (decision.counter != nullptr) Count(*decision.counter);
  Do(operation, decision, notice, slot, mine);
  return true;
}

StatusReporter::Decision StatusReporter::Decide(const PodStatus& known, bool owes,
                                                const Notice& notice) {
  Decision decision = DecideByRules(known, owes, notice);
  // The calls of a pod that is gone are still to be cancelled.
  const bool owes_cancel = owes && known.remembered == kUnseen;
  if (owes_cancel && decision.deed == Deed::kNothing && !(decision.next == known)) {
    decision.deed = Deed::kCancel;
    decision.is_owed = true;
  }
  if (decision.is_owed) decision.next.asked = known.asked + 1;
  return decision;
}

StatusReporter::Decision StatusReporter::DecideByRules(const PodStatus& known, bool owes,
                                                       const Notice& notice) {
  if (notice.kind == NoticeKind::kFailed || notice.kind == NoticeKind::kOutranked) {
    return DecideUnsent(known, notice);
  }
  Decision decision;
  decision.next = known;
  if (notice.move.IsOlderThan({.pod = notice.move.pod, .number = known.newest_move})) {
    decision.counter = &overtaken_;
    return decision;
  }
  decision.next.newest_move = notice.move.number;
  if (known.uid_fingerprint != notice.move.pod.uid_fingerprint) {
    decision.next.uid_fingerprint = notice.move.pod.uid_fingerprint;
    decision.next.remembered = kUnseen;
  }
  if (notice.kind == NoticeKind::kDeleted) {
    decision.next.remembered = kUnseen;
    decision.deed = Deed::kCancel;
    decision.is_owed = true;
    return decision;
  }
  if (decision.next.remembered == kUnseen) decision.next.remembered = FirstSight(*notice.pod);
  decision.delay = IsDelayed(options_.model) ? options_.delay : Duration(0);
  return notice.kind == NoticeKind::kGated ? DecideGated(decision, owes, notice)
                                           : DecidePassed(decision, owes);
}

StatusReporter::Decision StatusReporter::DecideGated(Decision decision, bool owes,
                                                     const Notice& notice) {
  if (!notice.text) {
    decision.counter = &opted_out_;
    return decision;
  }
  const uint64_t wanted = Remember(*notice.text);
  const bool is_repeated = decision.next.remembered == wanted;
  if (is_repeated) decision.counter = &repeated_;
  if (is_repeated && !owes) return decision;
  decision.next.remembered = wanted;
  decision.deed = Deed::kSet;
  decision.is_owed = true;
  return decision;
}

StatusReporter::Decision StatusReporter::DecidePassed(Decision decision, bool owes) {
  if (std::exchange(decision.next.remembered, kNothing) == kNothing && !owes) return decision;
  decision.deed = Deed::kClear;
  decision.is_owed = true;
  return decision;
}

// Only the newest call is forgotten or sent again. No call is, once the pod was evaluated anew and
// something followed from that, or is gone. A call that was outranked would be outranked again.
StatusReporter::Decision StatusReporter::DecideUnsent(const PodStatus& known,
                                                      const Notice& notice) {
  Decision decision;
  decision.next = known;
  if (known.uid_fingerprint != notice.move.pod.uid_fingerprint) return decision;
  if (known.asked != AskedIn(notice.tag)) return decision;
  decision.next.remembered = kUnknown;
  if (!IsClear(notice.tag) || notice.kind != NoticeKind::kFailed) return decision;
  decision.deed = Deed::kClear;
  decision.delay = options_.delay;
  decision.is_owed = true;
  return decision;
}

bool StatusReporter::TryDo(const Decision& decision, const Notice& notice,
                           const std::atomic<uint64_t>& slot, Word mine) {
  const auto is_newest = [&] { return slot.load() == mine.bits(); };
  const PodId id = notice.move.pod.id;
  if (decision.deed == Deed::kCancel) return options_.queue->CancelIf(id, is_newest);
  const bool is_set = decision.deed == Deed::kSet;
  ApiCall call = CallFor(notice.pod, id, TagOf(decision.next.asked, !is_set));
  call.delay = decision.delay;
  call.sends_event = is_set;
  call.condition.kind = ConditionPatch::Kind::kClear;
  if (is_set) call.condition = {ConditionPatch::Kind::kSet, kNotReadyReason, *notice.text};
  return options_.queue->AddIf(std::move(call), is_newest);
}

// A newer notice takes the deed's place if it has one of its own, and if not, leaves it owed.
void StatusReporter::Do(Pool::Operation& operation, Decision decision, const Notice& notice,
                        std::atomic<uint64_t>& slot, Word mine) {
  if (decision.deed == Deed::kNothing) return;
  // Each further round means that another thread has handled a notice.
  while (!TryDo(decision, notice, slot, mine)) {
    mine = Word(slot.load());
    operation.Guard(0, mine.number());
    if (slot.load() != mine.bits()) continue;
    const PodStatus& known = states_[mine.number()];
    if (!mine.owes() || known.remembered != decision.next.remembered ||
        known.uid_fingerprint != decision.next.uid_fingerprint) {
      return;
    }
    decision.next.asked = known.asked;
  }
  // Nothing is owed any more, unless more has become known.
  uint64_t bits = mine.bits();
  slot.compare_exchange_strong(bits, mine.After(mine.number(), false).bits());
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
