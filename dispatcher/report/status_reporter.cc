#include "dispatcher/report/status_reporter.h"

#include <memory>
#include <utility>

#include "engine/pod_key.h"

namespace schedq {
namespace {

// What is remembered for a pod. Below kMessages: a state; from there on: a message's fingerprint.
constexpr uint64_t kUnseen = 0;   // The pod's own condition has not been looked at.
constexpr uint64_t kNothing = 1;  // No message.
constexpr uint64_t kMessages = 2;

uint64_t Remember(std::string_view message) { return UidFingerprint(message) | kMessages; }
bool IsMessage(uint64_t remembered) { return remembered >= kMessages; }

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

StatusReporter::Slot& StatusReporter::SlotOf(PodId pod) {
  uint64_t used = used_.load();
  for (uint64_t number = used; number <= pod; number = 2 * number + 1) slots_.Reserve(number);
  slots_.Reserve(pod);
  while (used <= pod && !used_.compare_exchange_weak(used, uint64_t{pod} + 1)) {
  }
  return slots_[pod];
}

uint64_t StatusReporter::FirstSight(const Pod& pod) const {
  const PodCondition* shown = UnscheduledCondition(pod);
  return shown == nullptr || shown->message.empty() ? kNothing : Remember(shown->message);
}

void StatusReporter::OnGated(const PodRef& pod, PluginId plugin, std::string_view message) {
  Count(rejections_);
  const std::optional<PodId> id = options_.pod_names->Find(pod->namespace_name, pod->name);
  if (!id) return;
  Slot& slot = SlotOf(*id);
  uint64_t remembered = slot.remembered.load();
  if (remembered == kUnseen) {
    remembered = FirstSight(*pod);
    slot.remembered.store(remembered);
  }
  const std::optional<std::string> text = TextFor(*pod, plugin, message);
  if (!text) return Count(opted_out_);
  const uint64_t wanted = Remember(*text);
  if (remembered == wanted) return Count(repeated_);
  slot.remembered.store(wanted);
  auto call = CallFor(pod, *id, wanted);
  call->delay = IsDelayed(options_.model) ? options_.delay : Duration(0);
  call->sends_event = true;
  call->condition = {ConditionPatch::Kind::kSet, kNotReadyReason, *text};
  options_.queue->Add(std::move(call));
}

void StatusReporter::OnPassed(const PodRef& pod) {
  const std::optional<PodId> id = options_.pod_names->Find(pod->namespace_name, pod->name);
  if (!id) return;
  Slot& slot = SlotOf(*id);
  uint64_t remembered = slot.remembered.load();
  if (remembered == kUnseen) remembered = FirstSight(*pod);
  slot.remembered.store(kNothing);
  if (remembered == kNothing) return;
  SendClear(pod, *id, IsDelayed(options_.model) ? options_.delay : Duration(0));
}

void StatusReporter::OnDeleted(const PodRef& pod) {
  const std::optional<PodId> id = options_.pod_names->Find(pod->namespace_name, pod->name);
  if (!id || *id >= used_.load()) return;
  slots_[*id].remembered.store(kUnseen);
  options_.queue->Cancel(*id);
}

std::unique_ptr<ApiCall> StatusReporter::CallFor(const PodRef& pod, PodId id, uint64_t tag) {
  auto call = std::make_unique<ApiCall>();
  call->object = id;
  call->type = CallType::kStatusPatch;
  call->pod = pod;
  call->listener = this;
  call->tag = tag;
  return call;
}

void StatusReporter::SendClear(const PodRef& pod, PodId id, Duration delay) {
  auto call = CallFor(pod, id, kNothing);
  call->delay = delay;
  call->condition.kind = ConditionPatch::Kind::kClear;
  options_.queue->Add(std::move(call));
}

void StatusReporter::OnEnd(const ApiCall& call, CallEnd end, const Status&) {
  if (end == CallEnd::kOverwritten) return Count(coalesced_);
  if (end == CallEnd::kSkipped) return Count(cancelled_);
  Count(patches_);
  if (end == CallEnd::kSuccess) {
    if (call.sends_event) Count(events_);
    return;
  }
  Count(failed_);
  // Only what was remembered for this call is taken back or tried again: a pod that was evaluated
  // since, or has gone, has moved on.
  Word& word = slots_[call.object].remembered;
  if (IsMessage(call.tag)) {
    uint64_t remembered = call.tag;
    word.compare_exchange_strong(remembered, kNothing);
  } else if (word.load() == kNothing) {
    SendClear(call.pod, call.object, options_.delay);
  }
}

StatusCounts StatusReporter::counts() const {
  StatusCounts counts;
  counts.rejections = LoadRelaxed(rejections_);
  counts.opted_out = LoadRelaxed(opted_out_);
  counts.repeated = LoadRelaxed(repeated_);
  counts.patches = LoadRelaxed(patches_);
  counts.events = LoadRelaxed(events_);
  counts.failed = LoadRelaxed(failed_);
  counts.coalesced = LoadRelaxed(coalesced_);
  counts.cancelled = LoadRelaxed(cancelled_);
  return counts;
}

}  // namespace schedq
