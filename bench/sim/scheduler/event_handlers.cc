#include "bench/sim/scheduler/event_handlers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/pod_events.h"
#include "schedq/cluster_events.h"

namespace schedq {

EventHandlers::Stream* EventHandlers::StreamOf(const ClusterChange& change) {
  if (change.is_namespace) return &streams_[kResourceCount];
  if (change.is_taint_rule) return &streams_[kResourceCount + 1];
  return &streams_[static_cast<size_t>(change.resource)];
}

void EventHandlers::OnChange(const ClusterChange& change) {
  Stream* const stream = StreamOf(change);
  stream->waiting.push_back(change);
  if (stream->is_busy) return;
  stream->is_busy = true;
  ++busy_streams_;
  HandleNext(stream);
}

void EventHandlers::HandleNext(Stream* stream) {
  if (stream->waiting.empty()) {
    stream->is_busy = false;
    --busy_streams_;
    return;
  }
  lock_->Run(
      [this, stream] {
        const ClusterChange change = std::move(stream->waiting.front());
        stream->waiting.pop_front();
        return processors_.BeginHandling(Handle(change));
      },
      [this, stream] { HandleNext(stream); });
}

Duration EventHandlers::Send(const ClusterEvent& event, const ObjectChange& change,
                             const AssembledQueue::PreCheck& pre_check) {
  const uint64_t asked_before = queue_->asked();
  Duration cost{};
  if (queue_->Event(event, change, pre_check)) {
    const uint64_t asked = queue_->asked() - asked_before;
    cost = costs_.queue_event + static_cast<int64_t>(asked) * costs_.queue_judge;
  }
  metrics_->ObserveEventHandling(event.label, cost);
  return cost;
}

Duration EventHandlers::SendAll(std::span<const ClusterEvent> events, const ObjectChange& change) {
  Duration cost{};
  for (const ClusterEvent& event : events) cost += Send(event, change);
  return cost;
}

Duration EventHandlers::Handle(const ClusterChange& change) {
  if (IsForCacheOnly(change)) {
    cache_->Apply(change);
    return Duration(0);
  }
  if (change.resource == Resource::kPod) return HandlePod(change);
  if (IsOfGroup(change)) return HandleGroup(change);
  cache_->Apply(change);
  if (change.resource == Resource::kNode && change.action == Action::kUpdate) {
    return SendAll(NodeUpdateEvents(*change.objects.before, *change.objects.after), change.objects);
  }
  return Send(MakeEvent(change.resource, change.action), change.objects);
}

Duration EventHandlers::HandleGroup(const ClusterChange& change) {
  const ClusterGroupRef before = GroupBefore(change);
  const ClusterGroupRef after = GroupAfter(change);
  cache_->Apply(change);
  const bool is_known = queue_->ChangeGroup(before != nullptr ? before->group : nullptr,
                                            after != nullptr ? after->group : nullptr);
  if (!is_known) return Duration(0);
  return costs_.queue_update + Send(MakeEvent(change.resource, change.action), change.objects);
}

// With groups a pod that comes is an event for others too.
Duration EventHandlers::AddPod(const ClusterPodRef& pod) {
  if (!pod->nominated_node_name.empty()) cache_->nominations().Expect();
  queue_->Add(pod);
  if (!cache_->knows_groups()) {
    metrics_->ObserveEventHandling(UnscheduledPodAddLabel(), costs_.queue_add);
    return costs_.queue_add;
  }
  return costs_.queue_add + Send(MakeEvent(Resource::kUnscheduledPod, Action::kAdd),
                                 {nullptr, UnscheduledPodView(pod)});
}

Duration EventHandlers::HandlePod(const ClusterChange& change) {
  const ClusterPodRef& before = change.pod_before;
  const ClusterPodRef& after = change.pod_after;
  const bool was_assigned = before != nullptr && !before->node_name.empty();
  const bool is_assigned = after != nullptr && !after->node_name.empty();
  if (!was_assigned && !is_assigned) {
    if (!cache_->ProfileOf(after != nullptr ? *after : *before)) return Duration(0);
    if (before == nullptr) return AddPod(after);
    return after == nullptr ? HandleUnassignedDelete(before)
                            : HandleUnassignedUpdate(before, after);
  }
  cache_->Apply(change);
  queue_->CountMember(before, after);
  const ObjectChange views = {was_assigned ? AssignedPodView(before) : nullptr,
                              AssignedPodView(after)};
  if (!is_assigned) return Send(MakeEvent(Resource::kAssignedPod, Action::kDelete), views);
  if (!was_assigned) {
    const Duration cost = Send(MakeEvent(Resource::kAssignedPod, Action::kAdd), views);
    if (before != nullptr && cache_->ProfileOf(*before)) queue_->Bind(before);
    withheld_.erase(after->number);
    return cost + costs_.queue_update;
  }
  Duration cost{};
  for (const ClusterEvent& event : PodUpdateEvents(*before, *after)) {
    cost += Send(MakeEvent(Resource::kAssignedPod, event.action), views);
  }
  return cost;
}

Duration EventHandlers::HandleUnassignedUpdate(const ClusterPodRef& before,
                                               const ClusterPodRef& after) {
  if (cache_->IsAssumed(after->slot())) {
    withheld_[after->number] = after;
    return after->deleting && !before->deleting ? LetGoOfAssumed(*after) : Duration(0);
  }
  if (!after->nominated_node_name.empty()) cache_->nominations().Expect();
  const uint64_t asked_before = queue_->asked();
  queue_->Update(before, after);
  const uint64_t asked = queue_->asked() - asked_before;
  const Duration cost = costs_.queue_update + static_cast<int64_t>(asked) * costs_.queue_judge;
  const bool is_kept = before->nominated_node_name == after->nominated_node_name;
  return is_kept ? cost : cost + SendEndOfNomination(before);
}

Duration EventHandlers::HandleUnassignedDelete(const ClusterPodRef& pod) {
  queue_->Delete(pod);
  withheld_.erase(pod->number);
  if (cache_->IsAssumed(pod->slot())) return costs_.queue_update + LetGoOfAssumed(*pod);
  return costs_.queue_update + SendEndOfNomination(pod);
}

Duration EventHandlers::SendEndOfNomination(const ClusterPodRef& before) {
  if (before->nominated_node_name.empty()) return Duration(0);
  return Send(MakeEvent(Resource::kAssignedPod, Action::kDelete),
              {AssignedPodView(before), nullptr}, MayTakeRoomOf(*before));
}

Duration EventHandlers::LetGoOfAssumed(const ClusterPod& pod) {
  const std::optional<std::string> node = cache_->LetGoOfAssumed(pod);
  if (!node) return Duration(0);
  waiting_pods_->Reject(pod.uid, WaitingPods::kRemoved);
  return SendRoom(pod, *node);
}

Duration EventHandlers::SendRoom(const Pod& pod, const std::string& node,
                                 const AssembledQueue::PreCheck& pre_check) {
  return Send(MakeEvent(Resource::kAssignedPod, Action::kDelete),
              {AssumedPodView(pod, node), nullptr}, pre_check);
}

Duration EventHandlers::CatchUp(const ClusterPodRef& failed) {
  const auto withheld = withheld_.extract(failed->number);
  return withheld.empty() ? Duration(0) : HandleUnassignedUpdate(failed, withheld.mapped());
}

}  // namespace schedq
