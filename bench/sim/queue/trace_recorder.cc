#include "bench/sim/queue/trace_recorder.h"

#include <cstdint>
#include <utility>

#include "bench/format/trace/queue_outcome.h"
#include "bench/format/trace/trace_writer.h"
#include "engine/base/result.h"
#include "hints/plugin.h"
#include "hints/recorded/trace_plugins.h"

namespace schedq {
namespace {

constexpr char kRecorded[] = "recorded";

TracePluginSpec SpecOf(const Plugin& plugin) {
  TracePluginSpec spec;
  spec.name = plugin.name;
  if (plugin.pre_enqueue) spec.pre_enqueue = kRecorded;
  for (const EventRegistration& registration : plugin.events) {
    TraceEventSpec event;
    event.on = registration.resource;
    event.actions = registration.actions;
    event.hint = kRecorded;
    if (registration.pre_hint) event.pre_hint = kRecorded;
    spec.events.push_back(std::move(event));
  }
  return spec;
}

}  // namespace

void TraceRecorder::Begin(const RecordedQueue& recorded) {
  queue_ = recorded.queue;
  plugins_ = recorded.plugins;
  clock_ = recorded.clock;
  start_ = clock_->Now();
  has_groups_ = recorded.gates.GenericWorkload();
  TraceHeader header;
  header.start = start_;
  header.gates = recorded.gates;
  header.backoff = recorded.backoff;
  header.max_in_unschedulable = recorded.max_in_unschedulable;
  for (PluginId id = 0; id < plugins_->size(); ++id) {
    header.plugins.push_back(SpecOf(plugins_->plugin(id)));
  }
  version_ = VersionOf(header);
  sink_(FormatTraceHeader(header));
}

TraceOperation TraceRecorder::Begin(TraceOp op) const {
  TraceOperation operation;
  operation.op = op;
  operation.time_ms = MillisecondsSince(start_, clock_->Now());
  return operation;
}

void TraceRecorder::Added(const PodRef& pod) {
  pods_.Of(*pod)->live = pod;
  Touch(*pod);
  TraceOperation operation = Begin(TraceOp::kAdd);
  operation.pod = pod;
  Write(std::move(operation));
}

// A pod whose attempt was abandoned has left the trace, so its update adds it again, as in the
// queue.
void TraceRecorder::Updated(const PodRef& pod) {
  TracedPods::Entry* entry = pods_.Of(*pod);
  if (entry->live == nullptr) return Added(pod);
  entry->live = pod;
  Touch(*pod);
  TraceOperation operation = Begin(TraceOp::kUpdate);
  operation.pod = pod;
  Write(std::move(operation));
}

void TraceRecorder::Deleted(const PodRef& pod) {
  TracedPods::Entry* entry = pods_.Of(*pod);
  if (std::exchange(entry->live, nullptr) == nullptr) return;
  Touch(*pod);
  TraceOperation operation = Begin(TraceOp::kDelete);
  operation.pod_name = pods_.DisplayName(*entry);
  Write(std::move(operation));
}

void TraceRecorder::Bound(const PodRef& pod) { EndFlight(pod, TraceOp::kBind, PluginSet()); }

void TraceRecorder::Failed(const PoppedPod& pod, PluginSet unschedulable) {
  EndFlight(pod.pod, TraceOp::kFail, unschedulable);
}

void TraceRecorder::EndFlight(const PodRef& pod, TraceOp op, PluginSet unschedulable) {
  TracedPods::Entry* entry = pods_.Of(*pod);
  binding_.erase(entry->full_name);
  if (op == TraceOp::kBind) entry->live = nullptr;
  Touch(*pod);
  TraceOperation operation = Begin(op);
  operation.pod_name = pods_.DisplayName(*entry);
  unschedulable.ForEach(
      [&](PluginId id) { operation.unschedulable.push_back(plugins_->plugin(id).name); });
  Write(std::move(operation));
}

void TraceRecorder::WriteGroup(TraceOp op, TraceOp op_of_composite, const PodGroupRef& group) {
  TraceOperation operation = Begin(group->key.kind == GroupKind::kPodGroup ? op : op_of_composite);
  operation.group = group;
  Write(std::move(operation));
}

void TraceRecorder::GroupAdded(const PodGroupRef& group) {
  if (!has_groups_) return;
  MustSucceed(groups_.Add(*group));
  WriteGroup(TraceOp::kGroupAdd, TraceOp::kCompositeAdd, group);
}

void TraceRecorder::GroupUpdated(const PodGroupRef& group) {
  if (!has_groups_) return;
  MustSucceed(groups_.Update(*group));
  WriteGroup(TraceOp::kGroupUpdate, TraceOp::kCompositeUpdate, group);
}

void TraceRecorder::GroupDeleted(const GroupKey& group) {
  if (!has_groups_) return;
  MustSucceed(groups_.Delete(group));
  TraceOperation operation =
      Begin(group.kind == GroupKind::kPodGroup ? TraceOp::kGroupDelete : TraceOp::kCompositeDelete);
  operation.namespace_name = group.namespace_name;
  operation.group_name = group.name;
  Write(std::move(operation));
}

void TraceRecorder::GroupEnded(const GroupKey& root, GroupStatus status) {
  TraceOperation operation = Begin(TraceOp::kGroupDone);
  operation.group_name = groups_.DisplayName(root);
  operation.status = status;
  Write(std::move(operation));
}

void TraceRecorder::EventHandled(const ClusterEvent& event, const ObjectChange& change) {
  const ObjectView& object = *change.Latest();
  TraceOperation operation = Begin(TraceOp::kEvent);
  operation.event = event;
  operation.object = {.namespace_name = object.namespace_name,
                      .name = object.name,
                      .labels = object.labels,
                      .was_allocated = change.before != nullptr && change.before->allocated,
                      .is_allocated = change.after != nullptr && change.after->allocated,
                      .group = object.pod != nullptr ? object.pod->group_name : object.group_name,
                      .min_count = object.min_count};
  if (change.before != nullptr && change.after != nullptr) {
    operation.object.old_min_count = change.before->min_count;
  }
  Write(std::move(operation));
}

void TraceRecorder::Popped(const std::optional<PoppedPod>& popped) {
  TraceWant want;
  const auto take = [this](const Pod& pod) {
    Touch(pod);
    return pods_.DisplayName(*pods_.Of(pod));
  };
  if (popped) {
    if (popped->group != nullptr) {
      want.popped_group = groups_.DisplayName(popped->group->root);
      for (const PoppedPod& member : popped->group->members) {
        want.members.push_back(take(*member.pod));
        want.member_attempts.push_back(member.fields.attempts);
      }
    } else {
      want.popped = take(*popped->pod);
    }
    want.attempts = popped->fields.attempts;
    want.cycle = static_cast<int64_t>(popped->cycle);
  }
  Write(Begin(TraceOp::kPop), std::move(want));
}

void TraceRecorder::Ended(const PoppedPod& pod) { binding_.insert(FullName(*pod.pod)); }

void TraceRecorder::Nominated(const PodRef& pod, const std::string& node) {
  const TracedPods::Entry* const entry = pods_.Of(*pod);
  if (entry->live == nullptr) return;
  TraceOperation operation = Begin(TraceOp::kNominate);
  operation.pod_name = pods_.DisplayName(*entry);
  operation.node = node;
  Write(std::move(operation));
}

void TraceRecorder::Activated(const PodRef& pod) {
  const TracedPods::Entry* const entry = pods_.Of(*pod);
  if (entry->live == nullptr) return;
  Touch(*pod);
  TraceOperation operation = Begin(TraceOp::kActivate);
  operation.pod_names = {pods_.DisplayName(*entry)};
  Write(std::move(operation));
}

void TraceRecorder::Flushed(TraceOp op) { Write(Begin(op)); }

void TraceRecorder::End() {
  for (const auto& [name, entry] : pods_.entries()) touched_.insert(name);
  TraceWant want;
  SumQueue(*queue_, has_groups_, &want);
  want.logged_events
      .reset();  // Pods in a binding are in flight only in the trace, so it would differ.
  Write(Begin(TraceOp::kEnd), std::move(want));
}

std::string TraceRecorder::DisplayName(const std::string& full_name) {
  return pods_.DisplayName(pods_.entries().at(full_name));
}

std::string TraceRecorder::PlaceOf(const std::string& full_name) const {
  if (binding_.count(full_name) != 0) return std::string(PlaceName(Place::kInFlight));
  return PlaceText(*queue_, *plugins_, start_, full_name);
}

void TraceRecorder::AddAnswers(TraceOperation* operation) {
  const AnswerRecorder::Answers answers = answers_.TakeAnswers();
  for (const auto& [pod, plugin] : answers.rejected) {
    operation->rejected.push_back({DisplayName(pod), plugin});
  }
  for (const auto& [plugin, pods] : answers.verdicts) {
    for (const std::string& pod : pods) {
      operation->verdicts.push_back({DisplayName(pod), plugin});
    }
  }
}

void TraceRecorder::Write(TraceOperation operation, TraceWant want) {
  AddAnswers(&operation);
  for (const std::string& name : touched_) {
    TracedPods::Entry& entry = pods_.entries().at(name);
    std::string place = PlaceOf(name);
    if (place == entry.place) continue;
    want.changed[pods_.DisplayName(entry)] = place;
    entry.place = std::move(place);
  }
  touched_.clear();
  operation.want = std::move(want);
  sink_(FormatTraceOperation(operation, version_));
}

}  // namespace schedq
