#include "dispatcher/report/status_audit.h"

#include <chrono>
#include <string_view>

#include "dispatcher/api_call.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/plugin.h"
#include "engine/pod.h"

namespace schedq {

StatusAudit::PodState& StatusAudit::Account(const Pod& pod) {
  const auto [entry, is_new] = pods_.try_emplace(NameOf(pod));
  if (is_new) entry->second.since = clock_.Now();
  Settle(entry->second);
  return entry->second;
}

void StatusAudit::Settle(PodState& state) {
  const double seconds = std::chrono::duration<double>(clock_.Now() - state.since).count();
  state.since = clock_.Now();
  const bool is_true = state.is_rejected && state.shown == state.truth;
  if (state.shows_ours && !is_true) measures_.stale_pod_seconds += seconds;
  if (state.is_rejected && !state.shows_message) measures_.blind_pod_seconds += seconds;
}

void StatusAudit::OnGated(const PodRef& pod, PluginId, std::string_view message, const PodMove&) {
  PodState& state = Account(*pod);
  state.is_rejected = true;
  state.truth = message;
}

void StatusAudit::OnPassed(const PodRef& pod, const PodMove&) { Account(*pod).is_rejected = false; }

void StatusAudit::OnDeleted(const PodRef& pod, const PodMove&) {
  Account(*pod);
  pods_.erase(NameOf(*pod));
}

void StatusAudit::OnStored(const PodRef& before, const PodRef& after) {
  if (after == nullptr || !after->node_name.empty()) {
    const Pod& pod = after == nullptr ? *before : *after;
    if (pods_.count(NameOf(pod)) != 0) Account(pod);
    pods_.erase(NameOf(pod));
    return;
  }
  PodState& state = Account(*after);
  const bool showed_ours = state.shows_ours;
  const PodCondition* condition = UnscheduledCondition(*after);
  state.shows_message = condition != nullptr;
  state.shows_ours = condition != nullptr && condition->reason == kNotReadyReason;
  if (state.shows_ours) {
    if (!showed_ours || state.shown != condition->message) state.set_at = clock_.Now();
    state.shown = condition->message;
  } else if (showed_ours && clock_.Now() - state.set_at < kFlickerWindow) {
    ++measures_.flickers;
  }
}

StatusMeasures StatusAudit::Measures() {
  for (auto& [name, state] : pods_) Settle(state);
  return measures_;
}

}  // namespace schedq
