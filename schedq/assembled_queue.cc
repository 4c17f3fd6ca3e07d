#include "schedq/assembled_queue.h"

#include <optional>
#include <string>
#include <utility>

#include "dispatcher/report/nomination_reporter.h"
#include "engine/base/metrics/metrics_text.h"
#include "engine/base/names/interner.h"
#include "engine/base/names/name_link.h"
#include "engine/pod_events.h"
#include "engine/pod_key.h"
#include "engine/refusal.h"
#include "schedq/assembled_parts.h"
#include "schedq/cluster_events.h"

namespace schedq {
namespace {

// A name of the pod or of one of its claims finds no room.
[[gnu::cold]] Status RefusedByWorld(const char* operation, const Pod& pod) {
  if (HasNameTooLong(pod, {})) return Refusal(operation, pod, {}, 0);
  return Error(std::string(operation) + ": pod " + QualifiedName(pod) +
               ": there is no room for the names of its claims, expected at most " +
               std::to_string(Interner::kTextBytesMax) + " bytes in each and " +
               std::to_string(NameLink::kIndexMax) + " claims at one time");
}

// Its uid or the name of its group finds no room.
[[gnu::cold]] Status RefusedAsMember(const char* operation, const Pod& pod) {
  return Error(std::string(operation) + ": pod " + QualifiedName(pod) +
               ": there is no room for its uid or the name of its group, expected at most " +
               std::to_string(Interner::kTextBytesMax) + " bytes in each and " +
               std::to_string(NameLink::kIndexMax) + " members at one time");
}

}  // namespace

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

Status AssembledQueue::PodAdded(PodRef pod) {
  if (!parts_->world.PodChanged(nullptr, pod.get())) return RefusedByWorld("add", *pod);
  // The world knows nothing of pods without claims and groups.
  const bool names_claims = !pod->claims.empty() || !pod->generated_claims.empty();
  const bool is_member = IsMember(*pod);
  if (!names_claims && !is_member) return parts_->queue->Add(std::move(pod));
  if (is_member && !parts_->world.MemberAdded(*pod)) {
    ForgetRefused(*pod);
    return RefusedAsMember("add", *pod);
  }
  Status added = parts_->queue->Add(pod);
  if (!added) ForgetRefused(*pod);
  return added;
}

Status AssembledQueue::PodUpdated(const PodRef& before, const PodRef& after) {
  if (!parts_->world.PodChanged(before.get(), after.get())) return RefusedByWorld("update", *after);
  // An update may be the first that the queue hears of a pod.
  if (IsMember(*after) && !parts_->world.MemberAdded(*after)) {
    ForgetRefused(*after);
    return RefusedAsMember("update", *after);
  }
  if (parts_->calls != nullptr && parts_->calls->sees_with_updates()) {
    parts_->calls->Seen(*before, after);
  }
  const auto is_withheld = [&] {
    return parts_->being_bound.Withhold(parts_->queue->KeyOf(*after), after);
  };
  if (is_withheld()) return Status::Ok();
  // The attempt may be done since then. Its binding began before that, so asking again tells it
  // from an attempt that was done without one, whose pod comes back.
  std::optional<Status> updated = parts_->queue->UpdateUnlessAway(before, after);
  if (!updated && is_withheld()) return Status::Ok();
  if (!updated) updated = parts_->queue->Update(before, after);
  if (!*updated) ForgetRefused(*after);
  return *updated;
}

bool AssembledQueue::IsMember(const Pod& pod) const {
  return parts_->has_groups && !pod.group_name.empty();
}

// Another version, or another pod of the name, may be there, and keeps its claims.
void AssembledQueue::ForgetRefused(const Pod& pod) {
  const PodWhereabouts known = parts_->queue->Where(QualifiedName(pod));
  parts_->world.PodChanged(&pod, known.live ? known.pod.get() : nullptr);
  const bool is_known = known.live && known.pod->uid == pod.uid;
  if (IsMember(pod) && !is_known) parts_->world.MemberDeleted(pod);
}

void AssembledQueue::PodDeleted(const PodRef& pod) {
  parts_->world.PodChanged(pod.get(), nullptr);
  if (IsMember(*pod)) parts_->world.MemberDeleted(*pod);
  parts_->being_bound.Forget(parts_->queue->KeyOf(*pod));
  parts_->queue->Delete(*pod);
}

// A member that is bound still counts in its group.
void AssembledQueue::PodBound(const PodRef& pod) {
  parts_->world.PodChanged(pod.get(), nullptr);
  const PodKey key = parts_->queue->KeyOf(*pod);
  parts_->being_bound.Forget(key);
  parts_->queue->Bind(key);
}

Status AssembledQueue::PodChanged(const PodRef& before, const PodRef& after) {
  const bool was_assigned = before != nullptr && !before->node_name.empty();
  const bool is_assigned = after != nullptr && !after->node_name.empty();
  if (before != nullptr && !was_assigned) {
    if (after != nullptr && !is_assigned) return UnassignedPodUpdated(before, after);
    if (after == nullptr) {
      PodDeleted(before);
      SendEndOfNomination(before);
      return Status::Ok();
    }
    PodBound(before);
  } else if (before == nullptr && !is_assigned) {
    if (after == nullptr) return Status::Ok();
    Status added = PodAdded(after);
    if (added && parts_->has_groups) {
      Event(MakeEvent(Resource::kUnscheduledPod, Action::kAdd),
            {nullptr, UnscheduledPodView(after)});
    }
    return added;
  }
  // For an assigned pod that finds no room there is nothing to refuse: its group counts one less.
  if (!was_assigned && IsMember(*after)) static_cast<void>(parts_->world.MemberAdded(*after));
  if (after == nullptr && IsMember(*before)) parts_->world.MemberDeleted(*before);
  const ObjectChange views = {was_assigned ? AssignedPodView(before) : nullptr,
                              AssignedPodView(after)};
  if (was_assigned && is_assigned) {
    for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
      Event(MakeEvent(Resource::kAssignedPod, event.action), views);
    }
    return Status::Ok();
  }
  Event(MakeEvent(Resource::kAssignedPod, is_assigned ? Action::kAdd : Action::kDelete), views);
  return Status::Ok();
}

// Of a pod on its way to a node the queue hears later, and the room is its own until then.
Status AssembledQueue::UnassignedPodUpdated(const PodRef& before, const PodRef& after) {
  Status updated = PodUpdated(before, after);
  const bool is_kept = before->nominated_node_name == after->nominated_node_name;
  if (is_kept || parts_->being_bound.Has(parts_->queue->KeyOf(*after))) return updated;
  SendEndOfNomination(before);
  return updated;
}

void AssembledQueue::SendEndOfNomination(const PodRef& before) {
  if (before->nominated_node_name.empty()) return;
  Event(MakeEvent(Resource::kAssignedPod, Action::kDelete), {AssignedPodView(before), nullptr},
        MayTakeRoomOf(*before));
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

bool AssembledQueue::Knows(GroupKind kind) const {
  return parts_->has_groups && (kind == GroupKind::kPodGroup || parts_->has_composites);
}

void AssembledQueue::GroupAdded(const PodGroupRef& group) {
  if (!Knows(group->key.kind)) return;
  parts_->world.GroupSeen(*group);
  parts_->queue->GroupAdd(group);
}

void AssembledQueue::GroupUpdated(const PodGroupRef& group) {
  if (!Knows(group->key.kind)) return;
  parts_->world.GroupSeen(*group);
  parts_->queue->GroupUpdate(group);
}

void AssembledQueue::GroupDeleted(const GroupKey& group) {
  if (!Knows(group.kind)) return;
  parts_->world.GroupGone(group);
  parts_->queue->GroupDelete(group);
}

void AssembledQueue::GroupChanged(const PodGroupRef& before, const PodGroupRef& after) {
  const PodGroupRef& latest = after != nullptr ? after : before;
  if (latest == nullptr || !Knows(latest->key.kind)) return;
  if (after == nullptr) {
    GroupDeleted(before->key);
  } else if (before == nullptr) {
    GroupAdded(after);
  } else {
    GroupUpdated(after);
  }
  const ObjectChange change = {GroupView(before), GroupView(after)};
  Event(MakeEvent(change.Latest()->resource, ActionOf(change)), change);
}

void AssembledQueue::GroupDone(const GroupKey& root, GroupStatus status) {
  parts_->queue->GroupDone(root, status);
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

Status AssembledQueue::Nominate(const PodRef& pod, std::string_view node) {
  return parts_->queue->Nominate(pod, node);
}

// Refused where the pod is gone, and its nomination with it.
void AssembledQueue::ClearNomination(const PodRef& pod) {
  static_cast<void>(parts_->queue->Nominate(pod, {}));
  if (parts_->calls == nullptr) return;
  FailedCycle cycle;
  cycle.pod = pod;
  cycle.object = parts_->queue->KeyOf(*pod).id;
  parts_->calls->ReportFailedCycle(cycle);
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
