// The checks of StateJudge on a state and on a move.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "engine/backoff.h"
#include "engine/base/metrics/metrics.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "engine/queue_metrics.h"
#include "engine/queueing_fields.h"
#include "tests/support/driver/state_judge.h"

namespace schedq {
namespace {

constexpr std::array<Place, 7> kQueues = {
    Place::kActive, Place::kBackoff,    Place::kErrorBackoff, Place::kUnschedulable,
    Place::kGated,  Place::kIncomplete, Place::kPending};

bool IsQueued(Place place) { return place != Place::kAbsent && place != Place::kInFlight; }

uint64_t CountIn(const QueueCounts& counts, Place place) {
  switch (place) {
    case Place::kActive:
      return counts.active;
    case Place::kBackoff:
      return counts.backoff;
    case Place::kErrorBackoff:
      return counts.error_backoff;
    case Place::kUnschedulable:
      return counts.unschedulable;
    case Place::kGated:
      return counts.gated;
    case Place::kInFlight:
      return counts.in_flight;
    case Place::kIncomplete:
      return counts.incomplete;
    case Place::kPending:
      return counts.pending;
    case Place::kAbsent:
      return 0;
  }
  return 0;
}

}  // namespace

void StateJudge::AddFault(const std::string& text) {
  if (!faults_.empty()) faults_ += "; ";
  faults_ += text;
}

void StateJudge::ReadState() {
  for (const auto& [name, entry] : replayer_.pods().entries()) {
    seen_[name] = replayer_.queue().Where(name);
  }
}

void StateJudge::CheckPlaces() {
  for (const auto& [name, where] : seen_) {
    const auto version = live_.find(name);
    const bool live = version != live_.end();
    if (!live && IsQueued(where.place)) {
      AddFault(name + " is gone and yet in " + std::string(PlaceName(where.place)));
    } else if (live && where.place == Place::kAbsent) {
      AddFault(name + " is lost: live and nowhere");
    } else if (live && where.pod->uid != version->second.pod->uid) {
      AddFault(name + " has uid " + where.pod->uid + ", expected " + version->second.pod->uid);
    } else if (live && IsQueued(where.place) && where.pod != version->second.pod) {
      AddFault(name + " is not the newest version");
    }
  }
  const QueueCounts counts = replayer_.queue().Counts();
  for (const Place place : kQueues) {
    const std::vector<PodRef> listed = replayer_.queue().List(place);
    const auto there = std::count_if(seen_.begin(), seen_.end(),
                                     [&](const auto& pod) { return pod.second.place == place; });
    const auto text = std::string(PlaceName(place));
    if (listed.size() != CountIn(counts, place) || listed.size() != static_cast<size_t>(there)) {
      AddFault(text + ": listed " + std::to_string(listed.size()) + ", counted " +
               std::to_string(CountIn(counts, place)) + ", found " + std::to_string(there));
    }
    for (const PodRef& pod : listed) {
      if (seen_[FullName(*pod)].place != place) AddFault(FullName(*pod) + " is not in " + text);
    }
  }
}

void StateJudge::CheckInFlight(const TraceOperation& operation) {
  std::vector<std::string> listed;
  for (const PodRef& pod : replayer_.queue().List(Place::kInFlight)) listed.push_back(KeyOf(*pod));
  std::sort(listed.begin(), listed.end());
  std::vector<std::string> expected;
  for (const auto& [key, account] : flights_) expected.push_back(key);
  const uint64_t counted = replayer_.queue().Counts().in_flight;
  if (listed != expected || counted != expected.size()) {
    AddFault("in flight: listed " + std::to_string(listed.size()) + ", counted " +
             std::to_string(counted) + ", popped and not ended " + std::to_string(expected.size()));
  }
  const bool is_logged = operation.op == TraceOp::kEvent && operation.event.IsWildcard();
  const std::string wrong =
      log_.After(expected.size(), is_logged, replayer_.queue().LoggedEvents());
  if (!wrong.empty()) AddFault(wrong);
}

void StateJudge::CheckFields(const std::string& name, const PodWhereabouts& where) {
  if (!IsQueued(where.place)) return;
  const Account& account = AccountOf(name);
  const QueueingFields& fields = where.fields;
  const auto demand = [&](bool holds, const char* what) {
    if (!holds) AddFault(name + " in " + std::string(PlaceName(where.place)) + ": " + what);
  };
  demand(fields.attempts == account.attempts, "attempts");
  demand(fields.timestamp == account.timestamp, "timestamp");
  demand(where.place != Place::kActive || fields.first_attempt.has_value(), "no first attempt");
  // The other fields are its group's. A member that joins a gated group keeps its flag.
  if (groups_.IsMember(*live_.at(name).pod)) return;
  demand(fields.unschedulable_count == account.unschedulable_count, "unschedulable count");
  demand(fields.consecutive_errors == account.consecutive_errors, "consecutive errors");
  // With the gate off PreEnqueue does not run before backoff, so a pod in backoff keeps its gating
  // plugin.
  const bool may_keep = InBackoff(where.place) && !header_.gates.PopFromBackoffQ();
  const bool gated = fields.gating_plugin != kNoPlugin;
  demand(may_keep || gated == (where.place == Place::kGated), "gating plugin");
  if (where.place == Place::kGated) {
    demand(fields.Rejectors().Has(fields.gating_plugin), "its gating plugin is no rejector");
    demand(!fields.was_flushed, "gated with the was-flushed flag");
  }
  if (InBackoff(where.place)) {
    demand(fields.Rejectors().empty() == (where.place == Place::kErrorBackoff), "kind of backoff");
    demand(fields.backoff_expiration == ExpirationOf(account), "backoff expiration");
  }
}

void StateJudge::CheckGauges() {
  const MetricsRegistry& metrics = replayer_.metrics();
  const auto demand = [&](const char* metric, const LabelValues& labels, uint64_t expected) {
    const double value = metrics.Value(metric, labels).value_or(0);
    if (value == static_cast<double>(expected)) return;
    AddFault(std::string(metric) + "{" + (labels.empty() ? "" : labels[0]) + "} is " +
             std::to_string(value) + ", recounted " + std::to_string(expected));
  };
  std::map<std::string, uint64_t> pending;
  std::map<PluginId, uint64_t> rejected;
  for (const auto& [name, where] : seen_) {
    if (!IsQueued(where.place)) continue;
    ++pending[InBackoff(where.place) ? "backoff" : std::string(PlaceName(where.place))];
    where.fields.Rejectors().ForEach([&](PluginId plugin) { ++rejected[plugin]; });
  }
  for (const char* queue : {"active", "backoff", "unschedulable", "gated"}) {
    demand("scheduler_pending_pods", {queue}, pending[queue]);
  }
  for (const char* queue : {"incomplete", "pending"}) {
    if (groups_.has_groups()) demand("scheduler_pending_pods", {queue}, pending[queue]);
  }
  for (int id = 0; id < replayer_.plugins().size(); ++id) {
    const auto plugin = static_cast<PluginId>(id);
    demand("scheduler_unschedulable_pods",
           {replayer_.plugins().plugin(plugin).name, std::string(kDefaultProfile)},
           rejected[plugin]);
  }
  demand("scheduler_inflight_events", {"PodPopped"}, flights_.size());
  if (knows_bound_after_flush_) {
    demand("scheduler_pod_scheduled_after_flush_total", {}, bound_after_flush_);
  }
}

void StateJudge::CheckNominations(const TraceOperation& operation, const TraceOutcome& outcome) {
  std::vector<std::string> expected;
  for (const auto& [name, live] : live_) {
    const std::string& node = live.account.nomination;
    const PodKey key = replayer_.queue().KeyOf(*live.pod);
    const std::string shown = replayer_.queue().NominatedNode(key);
    if (shown != node) AddFault(name + " is nominated to '" + shown + "', expected '" + node + "'");
    if (operation.op == TraceOp::kNominated && node == operation.node && !node.empty()) {
      expected.push_back(replayer_.pods().DisplayName(replayer_.pods().entries().at(name)));
    }
  }
  std::sort(expected.begin(), expected.end());
  if (operation.op == TraceOp::kNominated && outcome.nominated != expected) {
    AddFault("nominated to " + operation.node + ": " + std::to_string(outcome.nominated.size()) +
             " pods, expected " + std::to_string(expected.size()));
  }
}

bool StateJudge::ComesBefore(const std::string& a, const std::string& b, bool in_backoff) const {
  const Account& first = AccountOf(a);
  const Account& second = AccountOf(b);
  if (in_backoff) {
    const auto expires = ExpirationOf(first);
    const auto other = ExpirationOf(second);
    if (expires != other) return expires < other;
  }
  if (first.sorted_priority != second.sorted_priority) {
    return first.sorted_priority > second.sorted_priority;
  }
  return first.timestamp < second.timestamp;
}

// A pop must take the first of the pods whose uid is not in flight already.
void StateJudge::CheckPop() {
  if (groups_.has_groups()) return CheckPopAmongGroups();
  const std::string popped = popped_.empty() ? "" : popped_.front();
  const bool pops_from_backoff = header_.gates.PopFromBackoffQ();
  for (const Place place : {Place::kActive, Place::kBackoff}) {
    if (place == Place::kBackoff && !pops_from_backoff) break;
    std::string best;
    for (const auto& [name, where] : before_) {
      if (where.place != place) continue;
      if (name != popped && flights_.contains(KeyOf(*live_.at(name).pod))) continue;
      if (best.empty() || ComesBefore(name, best, place == Place::kBackoff)) best = name;
    }
    if (best.empty()) continue;
    if (best != popped) {
      AddFault("popped " + (popped.empty() ? "nothing" : popped) + ", but " + best +
               " was first in " + std::string(PlaceName(place)));
    }
    return;
  }
  if (!popped.empty()) AddFault("popped " + popped + ", which could not be popped");
}

void StateJudge::CheckMoves(const TraceOperation& operation) {
  const Instant now = replayer_.Now();
  for (const auto& [name, where] : seen_) {
    const auto found = before_.find(name);
    if (found == before_.end() || !live_.contains(name)) continue;
    if (groups_.IsMember(*live_.at(name).pod)) continue;  // Its group waits, by its own account.
    const PodWhereabouts& was = found->second;
    const Account& account = AccountOf(name);
    const bool had_pending = operation.op == TraceOp::kFail ? !operation.pending.empty()
                                                            : !was.fields.pending_plugins.empty();
    const bool requeued = operation.op == TraceOp::kEvent || operation.op == TraceOp::kUpdate ||
                          operation.op == TraceOp::kFlushUnschedulable ||
                          operation.op == TraceOp::kFail;
    const bool woken = where.place == Place::kActive &&
                       (InPool(was.place) || was.place == Place::kInFlight) && requeued;
    if (woken && !had_pending && IsBackingOff(account)) AddFault(name + " skipped its backoff");
    if (operation.op == TraceOp::kFlushBackoff && InBackoff(was.place)) {
      const bool stayed = InBackoff(where.place);
      if (stayed != IsBackingOff(account)) {
        AddFault(name + (stayed ? " was not flushed from backoff" : " left backoff early"));
      }
    }
    if (operation.op == TraceOp::kFlushUnschedulable && InPool(was.place)) {
      const Instant flushed = was.fields.flush_timestamp.value_or(Instant::min());
      const Instant since = std::max(account.timestamp, flushed);
      const bool due = now - since > header_.max_in_unschedulable;
      const bool marked = where.fields.flush_timestamp == now;
      if (due != marked && flushed != now) AddFault(name + (due ? " is due" : " is not due"));
      if (due && where.place == Place::kUnschedulable) AddFault(name + " was not rescued");
    }
  }
}

std::optional<Instant> StateJudge::ExpirationOf(const Account& account) const {
  const uint32_t count =
      account.consecutive_errors > 0 ? account.consecutive_errors : account.unschedulable_count;
  const BackoffPolicy& policy = header_.backoff;
  if (count == 0 || policy.maximum == Duration::zero()) return std::nullopt;
  Duration duration = std::min(policy.initial, policy.maximum);
  for (uint32_t i = 1; i < count && duration < policy.maximum && i < 64; ++i) {
    duration = std::min(duration * 2, policy.maximum);
  }
  const Instant exact = account.timestamp + duration;
  if (!header_.gates.PopFromBackoffQ()) return exact;
  return std::chrono::floor<std::chrono::seconds>(exact);
}

Instant StateJudge::WindowNow() const {
  if (!header_.gates.PopFromBackoffQ()) return replayer_.Now();
  return std::chrono::floor<std::chrono::seconds>(replayer_.Now());
}

bool StateJudge::IsBackingOff(const Account& account) const {
  const std::optional<Instant> expiration = ExpirationOf(account);
  return expiration && *expiration >= WindowNow();
}

}  // namespace schedq
