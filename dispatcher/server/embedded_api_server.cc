#include "dispatcher/server/embedded_api_server.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "dispatcher/api_call.h"
#include "dispatcher/server/pod_patch.h"
#include "dispatcher/timer_wheel/tick_buckets.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {
namespace {

constexpr Duration kRateTick = std::chrono::milliseconds(1);

}  // namespace

std::string NameOf(const Pod& pod) { return pod.namespace_name + "/" + pod.name; }

EmbeddedApiServer::EmbeddedApiServer(const ServerOptions& options)
    : options_(options),
      clock_(*options.clock),
      epoch_(clock_.Now()),
      random_(options.seed),
      rate_(options.calls_per_second_max, options.burst, kRateTick) {}

PodRef EmbeddedApiServer::Create(Pod pod) {
  if (!pod.scheduling_gates.empty()) {
    pod.conditions.push_back(
        {"PodScheduled", "False", "SchedulingGated", std::string(kSchedulingGatedMessage)});
  }
  PodRef stored = std::make_shared<Pod>(std::move(pod));
  if (Find(NameOf(*stored)) != nullptr) return nullptr;
  Store(nullptr, stored);
  return stored;
}

bool EmbeddedApiServer::Delete(const std::string& name) {
  const PodRef pod = Find(name);
  if (pod == nullptr) return false;
  Store(pod, nullptr);
  return true;
}

PodRef EmbeddedApiServer::Find(const std::string& name) const {
  const auto found = pods_.find(name);
  return found == pods_.end() ? nullptr : found->second;
}

void EmbeddedApiServer::Execute(const ApiCall& call, std::function<void(const Status&)> done) {
  Duration latency = options_.latency;
  if (options_.latency_extra > Duration(0)) {
    const double mean = static_cast<double>(options_.latency_extra.count());
    latency += Duration(static_cast<int64_t>(random_.Exponential(mean)));
  }
  clock_.At(clock_.Now() + latency, [this, &call, done = std::move(done)] { done(Answer(call)); });
}

Status EmbeddedApiServer::Answer(const ApiCall& call) {
  Status status = Refuse();
  if (status.ok()) {
    const PodRef pod = call.pod == nullptr ? nullptr : Find(NameOf(*call.pod));
    status = pod == nullptr || pod->uid != call.pod->uid
                 ? Status(Error("the pod was not found (404)"))
                 : Apply(call, pod);
  }
  if (!status.ok()) ++counts_.failures;
  return status;
}

Status EmbeddedApiServer::Refuse() {
  const Instant now = clock_.Now();
  for (const auto& [from, until] : outages_) {
    if (now < from || now >= until) continue;
    ++counts_.unavailable;
    return Error("the server is unavailable (503)");
  }
  if (!rate_.HasToken(static_cast<Tick>((now - epoch_) / kRateTick))) {
    ++counts_.throttled;
    return Error("too many requests (429)");
  }
  rate_.SpendToken();
  if (options_.conflict_rate > 0 && random_.Chance(options_.conflict_rate)) {
    ++counts_.conflicts;
    return Error("the object was changed meanwhile (409)");
  }
  if (options_.error_rate > 0 && random_.Chance(options_.error_rate)) {
    return Error("internal error (500)");
  }
  return Status::Ok();
}

Status EmbeddedApiServer::Apply(const ApiCall& call, const PodRef& pod) {
  switch (call.type) {
    case CallType::kBinding: {
      if (!pod->node_name.empty()) return Error("the pod is bound already (409)");
      auto bound = std::make_shared<Pod>(*pod);
      bound->node_name = std::string(call.node());
      if (options_.clears_nomination_at_bind) bound->nominated_node_name.clear();
      RemoveScheduledCondition(bound.get());
      bound->conditions.push_back({"PodScheduled", "True", "", ""});
      ++counts_.bindings;
      Store(pod, bound);
      return Status::Ok();
    }
    case CallType::kDeletion:
      ++counts_.deletions;
      Store(pod, nullptr);
      return Status::Ok();
    case CallType::kStatusPatch:
      Patch(call, pod);
      return Status::Ok();
  }
  return Error("a call of no known type (400)");
}

void EmbeddedApiServer::Patch(const ApiCall& call, const PodRef& pod) {
  ++counts_.patches;
  auto patched = std::make_shared<Pod>(*pod);
  ApplyPatch(call, patched.get());
  if (call.sends_event) StoreEvent(*pod, call.condition);
  if (call.placement.has_value()) {
    for (const ClaimAllocation& claim : call.placement->claims) {
      claim_nodes_[claim.claim] = claim.node;
    }
  }
  Store(pod, patched);
}

void EmbeddedApiServer::StoreEvent(const Pod& pod, const ConditionPatch& said) {
  ++counts_.events;
  std::vector<PodEvent>& events = events_[NameOf(pod)];
  auto found = std::find_if(events.begin(), events.end(), [&](const PodEvent& event) {
    return event.reason == said.reason && event.message == said.message;
  });
  if (found == events.end()) {
    found = events.insert(events.end(), {std::string(said.reason), said.message, 0});
  }
  ++found->count;
}

const std::vector<PodEvent>& EmbeddedApiServer::EventsOf(const std::string& name) const {
  static const std::vector<PodEvent> kNone;
  const auto found = events_.find(name);
  return found == events_.end() ? kNone : found->second;
}

void EmbeddedApiServer::Store(const PodRef& before, const PodRef& after) {
  if (after != nullptr) {
    pods_[NameOf(*after)] = after;
  } else {
    pods_.erase(NameOf(*before));
    events_.erase(NameOf(*before));
  }
  for (const Watcher& tracer : tracers_) tracer(before, after);
  if (watchers_.empty()) return;
  clock_.At(clock_.Now() + options_.watch_delay, [this, before, after] {
    for (const Watcher& watcher : watchers_) watcher(before, after);
  });
}

}  // namespace schedq
