#include "bench/kep/dispatch/binding_scheduler.h"

#include <algorithm>
#include <array>
#include <utility>

namespace schedq {
namespace {

constexpr Duration kAttempt = std::chrono::milliseconds(3);

// Rejects in attempts; room on a node wakes what it rejected.
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

Instant VolumeWork::Need(const std::string& pod, const std::string& node, Duration takes,
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
    : options_(options),
      clock_(*options.clock),
      random_(options.random),
      dispatcher_({.clock = options.clock, .in_flight_max = 1000, .calls_per_second = 0},
                  options.server) {
  reporter_ = std::make_unique<NominationReporter>(&dispatcher_.queue());
  QueueRigOptions rig;
  rig.engine = options.engine;
  rig.clock = options.clock;
  rig.make_plugins = [](World*) -> Result<std::vector<Plugin>> {
    return std::vector<Plugin>{RoomPlugin()};
  };
  rig_ = std::move(*QueueRig::Create(rig));
  queue().Run();
}

BindingScheduler::~BindingScheduler() { Stop(); }

void BindingScheduler::Stop() {
  if (std::exchange(is_stopped_, true)) return;
  queue().Close();
  dispatcher_.queue().Close();
}

void BindingScheduler::After(Duration delay, std::function<void()> action) {
  clock_.At(clock_.Now() + delay, [this, action = std::move(action)] {
    if (!is_stopped_) action();
  });
}

void BindingScheduler::SendEvent(Resource resource, Action action) {
  queue().Event(MakeEvent(resource, action), {});
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
  const Pod& pod = after != nullptr ? *after : *before;
  const bool is_bound = after != nullptr && !after->node_name.empty();
  if (is_bound) {
    placed_[after->node_name].insert(after->name);
    if (before != nullptr) queue().Bind(KeyOf(pod));
    bindings_.erase(pod.name);
  } else if (after == nullptr) {
    queue().Delete(pod);
    for (auto& [node, pods] : placed_) pods.erase(pod.name);
    SendEvent(Resource::kAssignedPod, Action::kDelete);
  } else if (before == nullptr) {
    queue().Add(after);
  } else {
    if (const PodKey key = KeyOf(pod); key.id != kNoPod) dispatcher_.queue().Sync(key.id, after);
    const auto binding = bindings_.find(pod.name);
    if (binding == bindings_.end()) {
      queue().Update(before, after);
    } else {
      binding->second.pod = after;
    }
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
  const std::optional<PoppedPod> popped = queue().TryPop();
  if (!popped) {
    // Whoever backs off is looked for again when the next window ends.
    const QueueCounts counts = queue().Counts();
    if (counts.backoff + counts.error_backoff == 0) return;
    is_scheduling_ = true;
    return After(kSecond, [this] { ScheduleOne(); });
  }
  const std::string node = Choose(*popped->pod);
  if (node.empty()) {
    FailAttempt(*popped);
  } else {
    StartBinding(*popped, node);
  }
  WakeUp();
}

void BindingScheduler::FailAttempt(const PoppedPod& popped) {
  ApiCall call;
  call.object = popped.key.id;
  call.pod = popped.pod;
  call.condition = {ConditionPatch::Kind::kSet, kUnschedulableReason, "no node has room"};
  dispatcher_.queue().Add(std::move(call));
  if (options_.nominates) {
    reporter_->OnFailedCycle({.pod = popped.pod, .object = popped.key.id, .post_filter_node = {}});
  }
  PluginSet rejectors;
  rejectors.Insert(0);
  static_cast<void>(queue().Fail(popped.key, rejectors, {}));
}

bool BindingScheduler::Fits(const std::string& node, const Pod& pod) {
  uint64_t taken = placed_[node].size();
  for (const PodRef& other : queue().NominatedPods(node)) {
    const bool counts = other->priority >= pod.priority && other->name != pod.name &&
                        bindings_.count(other->name) == 0;
    if (counts) ++taken;
  }
  return taken < options_.pods_per_node;
}

std::string BindingScheduler::Choose(const Pod& pod) {
  std::string nominated = queue().NominatedNode(KeyOf(pod));
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

void BindingScheduler::StartBinding(const PoppedPod& popped, const std::string& node) {
  const std::string name = popped.pod->name;
  placed_[node].insert(name);
  queue().Done(popped.key);
  decided_[name] = clock_.Now();
  Binding& binding = bindings_[name] = {popped.pod, popped.key, node, ++last_binding_};
  const Duration takes = options_.volume_takes(*popped.pod);
  const std::array<PreFlight, 2> answers = {
      options_.has_claims ? PreFlight::kSuccess : PreFlight::kSkip,
      takes > Duration(0) ? PreFlight::kSuccess : PreFlight::kSkip};
  if (options_.nominates) {
    BindingStart start;
    start.pod = popped.pod;
    start.object = popped.key.id;
    start.node = node;
    start.pre_flights = answers;
    if (options_.has_claims && options_.claims_go_first) {
      start.claims = {{ClaimNameOf(*popped.pod), node}};
      start.listener = this;
      start.tag = binding.number;
      binding.claim_is_sent = true;
    }
    const Status started = reporter_->OnBindingStart(std::move(start));
    SCHEDQ_CHECK(started.ok(), "no plugin rejects here");
  }
  const Instant ready =
      takes == Duration(0) ? clock_.Now() : options_.volumes->Need(name, node, takes, clock_.Now());
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
    if (binding.claim_is_sent) return;  // The binding goes on when it has ended.
    auto claim = CallFor(binding, CallType::kStatusPatch);
    claim.placement.Mutable().claims = {{ClaimNameOf(*binding.pod), binding.node}};
    binding.claim_is_sent = true;
    dispatcher_.queue().Add(std::move(claim));
    return;
  }
  auto call = CallFor(binding, CallType::kBinding);
  call.placement.Mutable().node = binding.node;
  dispatcher_.queue().Add(std::move(call));
}

ApiCall BindingScheduler::CallFor(const Binding& binding, CallType type) {
  ApiCall call;
  call.object = binding.key.id;
  call.type = type;
  call.pod = binding.pod;
  call.listener = this;
  call.tag = binding.number;
  return call;
}

// Of claims, with a nomination or on their own, and of bindings. A binding's success is told by the
// informer.
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
  const Binding binding = found->second;
  bindings_.erase(found);
  placed_[binding.node].erase(name);
  if (options_.nominates) {
    reporter_->OnFailedCycle({.pod = binding.pod,
                              .object = binding.key.id,
                              .failure = CycleFailure::kBinding,
                              .post_filter_node = {}});
  }
  static_cast<void>(queue().Fail(binding.key, {}, {}));
  WakeUp();
}

}  // namespace schedq
