#include "bench/kep/dispatch/binding_scheduler.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/gates.h"
#include "engine/plugin.h"
#include "engine/queue.h"  // IWYU pragma: keep
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "schedq/assembly_options.h"

namespace schedq {
namespace {

constexpr Duration kAttempt = std::chrono::milliseconds(3);

// The plugin that rejects pods for lack of room; room on a node wakes them.
Plugin RoomPlugin() {
  Plugin plugin;
  plugin.name = "Room";
  plugin.rejection_message = "no node has room";
  for (const Resource resource : {Resource::kNode, Resource::kAssignedPod}) {
    EventRegistration registration;
    registration.resource = resource;
    registration.actions = resource == Resource::kNode ? Action::kAdd : Action::kDelete;
    plugin.events.push_back(std::move(registration));
  }
  return plugin;
}

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::string ClaimNameOf(const Pod& pod) { return NameOf(pod) + "-claim"; }

Instant VolumeWork::ReadyAt(const std::string& pod, const std::string& node, Duration takes,
                            Instant now) {
  const auto [found, is_new] = work_.try_emplace(pod, Work{node, now});
  if (!is_new && found->second.node != node) {
    lost_seconds_ += Seconds(std::min(now - found->second.begun, takes));
    ++moved_;
    found->second = {node, now};
  }
  return std::max(now, found->second.begun + takes);
}

BindingScheduler::BindingScheduler(const BindingSchedulerOptions& options)
    : options_(options), clock_(*options.clock), random_(options.random) {
  GateRequest gates;
  gates.Set(Gate::kSchedulerPreEnqueuePodStatus, false);
  gates.Set(Gate::kNominatedNodeNameForExpectation, options.nominates);
  AssemblyOptions assembly;
  assembly.engine = options.engine;
  assembly.clock = options.clock;
  assembly.plugins = [](World*) -> Result<std::vector<Plugin>> {
    return std::vector<Plugin>{RoomPlugin()};
  };
  assembly.gates = Gates::Resolve(gates).value();
  assembly.api_calls = ApiCallOptions{.sink = options.server,
                                      .driver = CallDriver::kClock,
                                      .in_flight_max = 1000,
                                      .calls_per_second = 0};
  queue_ = std::move(*AssembledQueue::Create(std::move(assembly)));
  queue_->Run();
}

BindingScheduler::~BindingScheduler() { Stop(); }

void BindingScheduler::Stop() {
  if (!std::exchange(is_stopped_, true)) queue_->Close();
}

void BindingScheduler::After(Duration delay, std::function<void()> action) {
  clock_.At(clock_.Now() + delay, [this, action = std::move(action)] {
    if (!is_stopped_) action();
  });
}

void BindingScheduler::SendEvent(Resource resource, Action action) {
  queue_->Event(MakeEvent(resource, action), {});
  WakeUp();
}

void BindingScheduler::AddNode(const std::string& node) {
  nodes_.push_back(node);
  SendEvent(Resource::kNode, Action::kAdd);
}

void BindingScheduler::RemoveNode(const std::string& node) { std::erase(nodes_, node); }

bool BindingScheduler::HasPlacedOn(const std::string& node) const {
  const auto found = placed_.find(node);
  return found != placed_.end() && !found->second.empty();
}

void BindingScheduler::OnChange(const PodRef& before, const PodRef& after) {
  if (is_stopped_) return;
  const std::string& name = after != nullptr ? after->name : before->name;
  const bool is_bound = after != nullptr && !after->node_name.empty();
  if (is_bound) {
    placed_[after->node_name].insert(name);
    if (before != nullptr) queue_->PodBound(before);
    bindings_.erase(name);
  } else if (after == nullptr) {
    queue_->PodDeleted(before);
    for (auto& [node, pods] : placed_) pods.erase(name);
    SendEvent(Resource::kAssignedPod, Action::kDelete);
  } else if (before == nullptr) {
    MustSucceed(queue_->PodAdded(after));
  } else {
    MustSucceed(queue_->PodUpdated(before, after));
    const auto binding = bindings_.find(name);
    if (binding != bindings_.end()) binding->second.pod = after;
  }
  WakeUp();
}

void BindingScheduler::WakeUp() {
  if (is_scheduling_ || is_stopped_) return;
  is_scheduling_ = true;
  After(kAttempt, [this] { ScheduleOne(); });
}

void BindingScheduler::ScheduleOne() {
  is_scheduling_ = false;
  std::optional<Attempt> attempt = queue_->TryPop();
  if (!attempt) {
    // A pod may be in backoff, so the scheduler pops again when the next window ends.
    const QueueCounts counts = queue_->Counts();
    if (counts.backoff + counts.error_backoff == 0) return;
    is_scheduling_ = true;
    return After(kSecond, [this] { ScheduleOne(); });
  }
  const std::string node = Choose(attempt->pod());
  if (node.empty()) {
    const Status failed = attempt->Fail(PluginSet::Of(0));
    SCHEDQ_CHECK(failed.ok(), "an attempt of one scheduler stands in no queue");
  } else {
    StartBinding(std::move(*attempt), node);
  }
  WakeUp();
}

bool BindingScheduler::Fits(const std::string& node, const Pod& pod) {
  uint64_t taken = placed_[node].size();
  for (const PodRef& other : queue_->NominatedPods(node)) {
    const bool counts = other->priority >= pod.priority && other->name != pod.name &&
                        bindings_.count(other->name) == 0;
    if (counts) ++taken;
  }
  return taken < options_.pods_per_node;
}

std::string BindingScheduler::Choose(const Pod& pod) {
  std::string nominated = queue_->NominatedNode(pod);
  const bool is_there = std::find(nodes_.begin(), nodes_.end(), nominated) != nodes_.end();
  if (is_there && Fits(nominated, pod)) return nominated;
  if (nodes_.empty()) return "";
  const size_t first = random_.Below(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const std::string& node = nodes_[(first + i) % nodes_.size()];
    if (Fits(node, pod)) return node;
  }
  return "";
}

void BindingScheduler::StartBinding(Attempt attempt, const std::string& node) {
  const PodRef pod = attempt.pod_ref();
  const std::string name = pod->name;
  placed_[node].insert(name);
  decided_[name] = clock_.Now();
  const Duration takes = options_.volume_takes(*pod);
  BindingPlan plan;
  plan.node = node;
  plan.pre_flights = {options_.has_claims ? PreFlight::kSuccess : PreFlight::kSkip,
                      takes > Duration(0) ? PreFlight::kSuccess : PreFlight::kSkip};
  const bool sends_claim = options_.nominates && options_.has_claims && options_.claims_go_first;
  ++last_binding_;
  if (sends_claim) {
    plan.claims = {{ClaimNameOf(*pod), node}};
    plan.listener = this;
    plan.tag = last_binding_;
  }
  bindings_.erase(name);
  Binding& binding = bindings_
                         .emplace(name, Binding{.attempt = std::move(attempt),
                                                .pod = pod,
                                                .node = node,
                                                .number = last_binding_,
                                                .claim_is_sent = sends_claim})
                         .first->second;
  const Status begun = binding.attempt.BeginBinding(std::move(plan));
  SCHEDQ_CHECK(begun.ok(), "no plugin rejects here");
  const Instant ready = takes == Duration(0)
                            ? clock_.Now()
                            : options_.volumes->ReadyAt(name, node, takes, clock_.Now());
  After(ready - clock_.Now(), [this, name, number = binding.number] {
    Binding* const waiting = FindBinding(name, number);
    if (waiting == nullptr) return;
    waiting->volume_is_there = true;
    FinishBinding(name);
  });
}

BindingScheduler::Binding* BindingScheduler::FindBinding(const std::string& name, uint64_t number) {
  const auto found = bindings_.find(name);
  return found == bindings_.end() || found->second.number != number ? nullptr : &found->second;
}

void BindingScheduler::FinishBinding(const std::string& name) {
  Binding& binding = bindings_.at(name);
  if (!binding.volume_is_there) return;
  if (std::find(nodes_.begin(), nodes_.end(), binding.node) == nodes_.end()) {
    return FailBinding(name);
  }
  if (options_.has_claims && !binding.claim_is_stored) {
    if (binding.claim_is_sent) return;  // OnEnd of the claim's call continues the binding.
    auto claim = CallFor(binding, CallType::kStatusPatch);
    claim.placement.Mutable().claims = {{ClaimNameOf(*binding.pod), binding.node}};
    binding.claim_is_sent = true;
    queue_->api_calls()->queue().Add(std::move(claim));
    return;
  }
  auto call = CallFor(binding, CallType::kBinding);
  call.placement.Mutable().node = binding.node;
  queue_->api_calls()->queue().Add(std::move(call));
}

ApiCall BindingScheduler::CallFor(const Binding& binding, CallType type) {
  ApiCall call;
  call.object = binding.attempt.key().id;
  call.type = type;
  call.pod = binding.pod;
  call.listener = this;
  call.tag = binding.number;
  return call;
}

// The ended call stored a claim (with a nomination or alone) or was a binding. The informer
// delivers the success of a binding.
void BindingScheduler::OnEnd(const ApiCall& call, CallEnd end, const Status&) {
  if (is_stopped_) return;
  const std::string name = call.pod->name;
  const bool is_done = end == CallEnd::kSuccess;
  if (is_done && call.type == CallType::kBinding) return;
  After(Duration(0), [this, name, number = call.tag, is_done] {
    Binding* const binding = FindBinding(name, number);
    if (binding == nullptr) return;
    binding->claim_is_stored = is_done;
    is_done ? FinishBinding(name) : FailBinding(name);
  });
}

void BindingScheduler::FailBinding(const std::string& name) {
  const auto found = bindings_.find(name);
  if (found == bindings_.end()) return;
  Binding binding = std::move(found->second);
  bindings_.erase(found);
  placed_[binding.node].erase(name);
  const Status failed = binding.attempt.Fail(PluginSet());
  SCHEDQ_CHECK(failed.ok(), "a pod that is being bound stands in no queue");
  WakeUp();
}

}  // namespace schedq
