#include "schedq/assembled_queue.h"

#include <utility>

#include "engine/base/metrics/metrics_text.h"
#include "engine/pod_events.h"
#include "engine/pod_key.h"
#include "schedq/assembled_parts.h"
#include "schedq/cluster_events.h"

namespace schedq {
Result<std::unique_ptr<AssembledQueue>> AssembledQueue::Create(AssemblyOptions options) {
  if (Status status = CheckOptions(options); !status) return status.error();
  auto parts = std::make_unique<Parts>(options.clock);
  if (Status status = parts->Build(&options); !status) return status.error();
  return std::unique_ptr<AssembledQueue>(new AssembledQueue(std::move(parts)));
}

AssembledQueue::AssembledQueue(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

AssembledQueue::~AssembledQueue() {
  parts_->queue->Close();
  parts_->deferred->Stop();
  // Before the queue, which a call that ends may want to use.
  parts_->calls.reset();
}

// From the cluster.

void AssembledQueue::PodAdded(PodRef pod) {
  parts_->world.PodChanged(nullptr, pod.get());
  parts_->queue->Add(std::move(pod));
}

void AssembledQueue::PodUpdated(const PodRef& before, const PodRef& after) {
  parts_->world.PodChanged(before.get(), after.get());
  if (parts_->calls != nullptr && parts_->calls->sees_with_updates()) {
    parts_->calls->Seen(*before, after);
  }
  if (!parts_->being_bound.Withhold(parts_->queue->KeyOf(*after), after)) {
    parts_->queue->Update(before, after);
  }
}

void AssembledQueue::PodDeleted(const PodRef& pod) {
  parts_->world.PodChanged(pod.get(), nullptr);
  parts_->being_bound.Forget(parts_->queue->KeyOf(*pod));
  parts_->queue->Delete(*pod);
}

void AssembledQueue::PodBound(const PodRef& pod) {
  parts_->world.PodChanged(pod.get(), nullptr);
  const PodKey key = parts_->queue->KeyOf(*pod);
  parts_->being_bound.Forget(key);
  parts_->queue->Bind(key);
}

void AssembledQueue::PodChanged(const PodRef& before, const PodRef& after) {
  const bool was_assigned = before != nullptr && !before->node_name.empty();
  const bool is_assigned = after != nullptr && !after->node_name.empty();
  if (before != nullptr && !was_assigned) {
    if (after == nullptr) return PodDeleted(before);
    if (!is_assigned) return PodUpdated(before, after);
    PodBound(before);
  } else if (before == nullptr && !is_assigned) {
    if (after != nullptr) PodAdded(after);
    return;
  }
  const ObjectChange views = {was_assigned ? AssignedPodView(before) : nullptr,
                              AssignedPodView(after)};
  if (was_assigned && is_assigned) {
    for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
      Event(MakeEvent(Resource::kAssignedPod, event.action), views);
    }
    return;
  }
  Event(MakeEvent(Resource::kAssignedPod, is_assigned ? Action::kAdd : Action::kDelete), views);
}

void AssembledQueue::NodeChanged(const ObjectRef& before, const ObjectRef& after) {
  const ObjectChange change = {before, after};
  if (ActionOf(change) != Action::kUpdate) {
    Event(MakeEvent(Resource::kNode, ActionOf(change)), change);
    return;
  }
  for (const ClusterEvent& event : NodeUpdateEvents(*before, *after)) Event(event, change);
}

void AssembledQueue::ClaimChanged(const ObjectRef& before, const ObjectRef& after) {
  const ObjectChange change = {before, after};
  Event(MakeEvent(Resource::kResourceClaim, ActionOf(change)), change);
}

bool AssembledQueue::Event(const ClusterEvent& event, const ObjectChange& change) {
  return Event(event, change, PreCheck());
}

bool AssembledQueue::Event(const ClusterEvent& event, const ObjectChange& change,
                           const PreCheck& pre_check) {
  if (event.resource == Resource::kResourceClaim && change.Latest() != nullptr) {
    const ObjectView& claim = *change.Latest();
    if (change.after == nullptr) {
      parts_->world.ClaimGone(claim.namespace_name, claim.name);
    } else {
      parts_->world.ClaimSeen(claim.namespace_name, claim.name);
    }
  }
  if (!event.IsWildcard() && parts_->judge->RegisteredFor(event).empty()) return false;
  parts_->queue->Event(event, change, pre_check);
  return true;
}

// Scheduling.

std::optional<Attempt> AssembledQueue::Pop(std::optional<Duration> timeout) {
  std::optional<Attempt> attempt(std::in_place, Attempt::MakerKey(), this,
                                 [&] { return parts_->queue->Pop(timeout); });
  if (attempt->is_ended()) attempt.reset();
  return attempt;
}

std::optional<Attempt> AssembledQueue::TryPop() {
  std::optional<Attempt> attempt(std::in_place, Attempt::MakerKey(), this,
                                 [&] { return parts_->queue->TryPop(); });
  if (attempt->is_ended()) attempt.reset();
  return attempt;
}

void AssembledQueue::Activate(std::span<const PodRef> pods) { parts_->queue->Activate(pods); }

void AssembledQueue::Nominate(const PodRef& pod, std::string_view node) {
  parts_->queue->Nominate(pod, node);
}

std::vector<PodRef> AssembledQueue::NominatedPods(std::string_view node) const {
  return parts_->queue->NominatedPods(node);
}

std::string AssembledQueue::NominatedNode(const Pod& pod) const {
  return parts_->queue->NominatedNode(parts_->queue->KeyOf(pod));
}

// Time.

void AssembledQueue::Run() { parts_->queue->Run(); }
void AssembledQueue::FlushBackoff() { parts_->queue->FlushBackoff(); }
void AssembledQueue::FlushUnschedulable() { parts_->queue->FlushUnschedulable(); }

void AssembledQueue::Close() {
  parts_->queue->Close();
  if (parts_->calls != nullptr) parts_->calls->Close();
}

// To look at.

QueueCounts AssembledQueue::Counts() const { return parts_->queue->Counts(); }
PodWhereabouts AssembledQueue::Where(std::string_view pod_name) const {
  return parts_->queue->Where(pod_name);
}
std::vector<PodRef> AssembledQueue::List(Place place) const { return parts_->queue->List(place); }

Result<PluginSet> AssembledQueue::Plugins(std::span<const std::string_view> names) const {
  PluginSet plugins;
  for (const std::string_view name : names) {
    const std::optional<PluginId> plugin = parts_->plugins->Find(name);
    if (!plugin) return Error("unknown plugin " + std::string(name));
    plugins.Insert(*plugin);
  }
  return plugins;
}

std::vector<std::string> AssembledQueue::PluginNames() const { return parts_->plugins->Names(); }
std::string AssembledQueue::MetricsText() const { return schedq::MetricsText(parts_->metrics); }

// The parts.

SchedulingQueue& AssembledQueue::queue() { return *parts_->queue; }
const SchedulingQueue& AssembledQueue::queue() const { return *parts_->queue; }
World& AssembledQueue::world() { return parts_->world; }
Interner& AssembledQueue::pod_names() { return parts_->pod_names; }
MetricsRegistry& AssembledQueue::metrics() { return parts_->metrics; }
const MetricsRegistry& AssembledQueue::metrics() const { return parts_->metrics; }
const PluginRegistry& AssembledQueue::plugins() const { return *parts_->plugins; }
const PluginPreEnqueue& AssembledQueue::pre_enqueue() const { return *parts_->pre_enqueue; }
ApiCalls* AssembledQueue::api_calls() { return parts_->calls.get(); }

}  // namespace schedq
