#include "bench/format/trace/replayer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <utility>

#include "bench/format/trace/queue_outcome.h"
#include "engine/base/result.h"
#include "engine/pod_group.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "hints/recorded/trace_plugins.h"
#include "hints/world.h"

namespace schedq {
namespace {

ObjectRef MakeObject(const TraceObject& object, Resource resource, bool allocated,
                     int64_t min_count) {
  auto view = std::make_shared<ObjectView>();
  view->resource = resource;
  view->namespace_name = object.namespace_name;
  view->name = object.name;
  view->labels = object.labels;
  view->allocated = allocated;
  view->group_name = object.group;
  view->min_count = min_count;
  return view;
}

ObjectChange ChangeOf(const TraceOperation& operation) {
  const Resource resource = operation.event.resource;
  ObjectChange change;
  if (operation.event.IsWildcard()) return change;
  const TraceObject& object = operation.object;
  const bool has_after = operation.event.action != Action::kDelete;
  if (operation.event.action != Action::kAdd) {
    change.before = MakeObject(object, resource, object.was_allocated,
                               has_after ? object.old_min_count : object.min_count);
  }
  if (has_after) {
    change.after = MakeObject(object, resource, object.is_allocated, object.min_count);
  }
  return change;
}

}  // namespace

Result<std::unique_ptr<Replayer>> Replayer::Create(const TraceHeader& header, EngineKind engine,
                                                   const std::vector<PluginSource>& further) {
  return Create(
      header, [engine](QueueOptions options) { return MakeQueue(engine, std::move(options)); },
      further);
}

Result<std::unique_ptr<Replayer>> Replayer::Create(const TraceHeader& header,
                                                   const QueueMaker& make_queue,
                                                   const std::vector<PluginSource>& further) {
  auto replayer = std::unique_ptr<Replayer>(new Replayer(header));
  if (Status status = replayer->Build(make_queue, further); !status) return status.error();
  return replayer;
}

Replayer::Replayer(const TraceHeader& header)
    : header_(header), clock_(header.start), answers_(std::make_unique<RecordedAnswers>()) {}

Replayer::~Replayer() = default;

Result<std::vector<Plugin>> Replayer::MakePlugins(World* world,
                                                  const std::vector<PluginSource>& further) {
  Result<std::vector<Plugin>> plugins = MakeTracePlugins(header_.plugins, world, answers_.get());
  if (!plugins) return plugins;
  for (const PluginSource& source : further) {
    Result<std::vector<Plugin>> made = source(world);
    if (!made) return made;
    for (Plugin& plugin : *made) {
      const auto same = std::find_if(plugins->begin(), plugins->end(), [&](const Plugin& other) {
        return other.name == plugin.name;
      });
      if (same == plugins->end()) {
        plugins->push_back(std::move(plugin));
      } else {
        *same = std::move(plugin);
      }
    }
  }
  return plugins;
}

Status Replayer::Build(const QueueMaker& make_queue, const std::vector<PluginSource>& further) {
  AssemblyOptions options;
  options.clock = &clock_;
  options.plugins = [&](World* world) { return MakePlugins(world, further); };
  options.gates = header_.gates;
  options.backoff = header_.backoff;
  options.max_in_unschedulable = header_.max_in_unschedulable;
  options.observers = {&touched_};
  options.measures_pre_enqueue = false;
  options.measures_hints = false;
  options.make_queue = make_queue;
  Result<std::unique_ptr<AssembledQueue>> queue = AssembledQueue::Create(std::move(options));
  if (!queue) return queue.error();
  queue_ = std::move(*queue);
  return Status::Ok();
}

Result<TraceOutcome> Replayer::Apply(const TraceOperation& operation) {
  if (operation.time_ms < time_ms_) {
    return Error("time runs backwards: " + std::to_string(operation.time_ms) + " after " +
                 std::to_string(time_ms_));
  }
  time_ms_ = operation.time_ms;
  clock_.AdvanceTo(header_.start + std::chrono::milliseconds(time_ms_));
  touched_.Clear();
  TraceOutcome outcome;
  if (Status status = Act(operation, &outcome); !status) return status.error();
  TellChanges(/*all=*/operation.op == TraceOp::kEnd, &outcome);
  return outcome;
}

Status Replayer::Act(const TraceOperation& operation, TraceOutcome* outcome) {
  const ObjectChange change =
      operation.op == TraceOp::kEvent ? ChangeOf(operation) : ObjectChange();
  if (Status status = SetAnswers(operation, change.after ? change.after : change.before); !status) {
    return status;
  }
  switch (operation.op) {
    case TraceOp::kAdd:
      return Add(operation);
    case TraceOp::kUpdate:
      return Update(operation);
    case TraceOp::kDelete:
      return Delete(operation);
    case TraceOp::kBind:
    case TraceOp::kFail:
      return EndAttempt(operation);
    case TraceOp::kEvent:
      queue_->Event(operation.event, change);
      break;
    case TraceOp::kActivate:
      return Activate(operation);
    case TraceOp::kNominate:
      return Nominate(operation);
    case TraceOp::kPop:
      Pop(outcome);
      break;
    case TraceOp::kNominated:
      AskNominated(operation, outcome);
      break;
    case TraceOp::kFlushBackoff:
      queue_->FlushBackoff();
      break;
    case TraceOp::kFlushUnschedulable:
      queue_->FlushUnschedulable();
      break;
    case TraceOp::kEnd:
      SumQueue(queue(), header_.gates.GenericWorkload(), outcome);
      break;
    case TraceOp::kGroupAdd:
    case TraceOp::kGroupUpdate:
    case TraceOp::kGroupDelete:
    case TraceOp::kCompositeAdd:
    case TraceOp::kCompositeUpdate:
    case TraceOp::kCompositeDelete:
      return ChangeGroup(operation);
    case TraceOp::kGroupDone:
      return EndCycle(operation);
  }
  return Status::Ok();
}

// A pod that is added by this very operation may be named too.
Status Replayer::SetAnswers(const TraceOperation& operation, const ObjectRef& object) {
  answers_->BeginOperation(object);
  for (const bool rejecting : {true, false}) {
    for (const auto& [pod, plugin] : rejecting ? operation.rejected : operation.verdicts) {
      if (!plugin.empty() && !plugins().Find(plugin)) {
        return Error("unknown plugin " + plugin + " in recorded answers");
      }
      std::string full_name;
      if (operation.pod != nullptr && operation.pod->name == pod) {
        full_name = FullName(*operation.pod);
      } else {
        Result<TracedPods::Entry*> entry = pods_.Named(pod);
        if (!entry) return entry.error();
        full_name = (*entry)->full_name;
      }
      const size_t slash = full_name.find('/');
      const std::string space = full_name.substr(0, slash);
      const std::string name = full_name.substr(slash + 1);
      for (const std::string& each : plugins().Names()) {
        if (!plugin.empty() && plugin != each) continue;
        if (rejecting) {
          answers_->Reject(space, name, each);
        } else {
          answers_->Queue(space, name, each);
        }
      }
    }
  }
  return Status::Ok();
}

Status Replayer::Add(const TraceOperation& operation) {
  TracedPods::Entry* entry = pods_.Of(*operation.pod);
  if (entry->live != nullptr) {
    return Error("add: pod " + operation.pod->name + " is live already");
  }
  entry->live = operation.pod;
  touched_.Touch(*operation.pod);
  MustSucceed(queue_->PodAdded(operation.pod));
  return Status::Ok();
}

Status Replayer::Update(const TraceOperation& operation) {
  const Result<TracedPods::Entry*> found = pods_.Named(FullName(*operation.pod));
  if (!found || (*found)->live == nullptr) {
    return Error("update: pod " + operation.pod->name + " is not live");
  }
  TracedPods::Entry* entry = *found;
  if (entry->live->uid != operation.pod->uid) {
    return Error("update: pod " + operation.pod->name + " has uid " + operation.pod->uid +
                 ", expected " + entry->live->uid);
  }
  const PodRef before = std::exchange(entry->live, operation.pod);
  touched_.Touch(*before);
  MustSucceed(queue_->PodUpdated(before, operation.pod));
  return Status::Ok();
}

Status Replayer::Delete(const TraceOperation& operation) {
  Result<TracedPods::Entry*> found = pods_.Present(operation.pod_name);
  if (!found) return found.error();
  TracedPods::Entry* entry = *found;
  if (entry->live == nullptr) return Status::Ok();  // In flight, and deleted before.
  const PodRef pod = std::exchange(entry->live, nullptr);
  touched_.Touch(*pod);
  queue_->PodDeleted(pod);
  return Status::Ok();
}

// Bind or fail. Of several incarnations the live one is meant if it is in flight, else the one that
// was popped last.
Status Replayer::EndAttempt(const TraceOperation& operation) {
  Result<TracedPods::Entry*> found = pods_.Present(operation.pod_name);
  if (!found) return found.error();
  TracedPods::Entry* entry = *found;
  auto& flying = entry->in_flight;
  auto meant = std::find_if(flying.begin(), flying.end(), [&](const auto& incarnation) {
    return entry->live != nullptr && incarnation.pod->uid == entry->live->uid;
  });
  if (meant == flying.end() && !flying.empty()) meant = std::prev(flying.end());
  TracedPods::Incarnation incarnation;
  if (meant != flying.end()) {
    incarnation = *meant;
    flying.erase(meant);
  } else {
    incarnation = {entry->live, queue().KeyOf(*entry->live)};
  }
  touched_.Touch(*incarnation.pod);

  if (operation.op == TraceOp::kFail) {
    Result<PluginSet> unschedulable = Plugins(operation.unschedulable);
    if (!unschedulable) return unschedulable.error();
    Result<PluginSet> pending = Plugins(operation.pending);
    if (!pending) return pending.error();
    // A refusal, because the pod is queued, is an answer like any other: it changes no place.
    static_cast<void>(queue().Fail(incarnation.key, *unschedulable, *pending));
    return Status::Ok();
  }
  if (entry->live != nullptr && entry->live->uid == incarnation.pod->uid) {
    queue_->PodBound(std::exchange(entry->live, nullptr));
  } else {
    queue().Bind(incarnation.key);
  }
  return Status::Ok();
}

Status Replayer::Activate(const TraceOperation& operation) {
  std::vector<PodRef> pods;
  for (const std::string& name : operation.pod_names) {
    Result<TracedPods::Entry*> entry = pods_.Present(name);
    if (!entry) return entry.error();
    pods.push_back((*entry)->live ? (*entry)->live : (*entry)->in_flight.back().pod);
    touched_.Touch(*pods.back());
  }
  queue_->Activate(pods);
  return Status::Ok();
}

Status Replayer::Nominate(const TraceOperation& operation) {
  Result<TracedPods::Entry*> entry = pods_.Present(operation.pod_name);
  if (!entry) return entry.error();
  const PodRef& pod = (*entry)->live ? (*entry)->live : (*entry)->in_flight.back().pod;
  MustSucceed(queue_->Nominate(pod, operation.node));
  return Status::Ok();
}

Status Replayer::ChangeGroup(const TraceOperation& operation) {
  if (operation.op == TraceOp::kGroupAdd || operation.op == TraceOp::kCompositeAdd) {
    if (Status status = groups_.Add(*operation.group); !status) return status;
    queue_->GroupAdded(operation.group);
  } else if (operation.op == TraceOp::kGroupUpdate || operation.op == TraceOp::kCompositeUpdate) {
    if (Status status = groups_.Update(*operation.group); !status) return status;
    queue_->GroupUpdated(operation.group);
  } else {
    const GroupKind kind =
        operation.op == TraceOp::kGroupDelete ? GroupKind::kPodGroup : GroupKind::kComposite;
    const GroupKey group = {kind, operation.namespace_name, operation.group_name};
    if (Status status = groups_.Delete(group); !status) return status;
    queue_->GroupDeleted(group);
  }
  return Status::Ok();
}

Status Replayer::EndCycle(const TraceOperation& operation) {
  const Result<GroupKey> root = groups_.Named(operation.group_name);
  if (!root) return root.error();
  queue_->GroupDone(*root, operation.status);
  return Status::Ok();
}

std::string Replayer::TakeOff(const PoppedPod& popped) {
  TracedPods::Entry* entry = pods_.Of(*popped.pod);
  entry->in_flight.push_back({popped.pod, popped.key});
  touched_.Touch(*popped.pod);
  return pods_.DisplayName(*entry);
}

void Replayer::Pop(TraceOutcome* outcome) {
  const std::optional<PoppedPod> popped = queue().TryPop();
  if (!popped) return;
  if (popped->group != nullptr) {
    outcome->popped_group = groups_.DisplayName(popped->group->root);
    for (const PoppedPod& member : popped->group->members) {
      outcome->members.push_back(TakeOff(member));
      outcome->member_attempts.push_back(member.fields.attempts);
    }
  } else {
    outcome->popped = TakeOff(*popped);
  }
  outcome->attempts = popped->fields.attempts;
  outcome->cycle = static_cast<int64_t>(popped->cycle);
}

void Replayer::AskNominated(const TraceOperation& operation, TraceOutcome* outcome) {
  for (const PodRef& pod : queue_->NominatedPods(operation.node)) {
    outcome->nominated.push_back(pods_.DisplayName(*pods_.Of(*pod)));
  }
  std::sort(outcome->nominated.begin(), outcome->nominated.end());
}

Result<PluginSet> Replayer::Plugins(const std::vector<std::string>& names) const {
  const std::vector<std::string_view> views(names.begin(), names.end());
  Result<PluginSet> plugins = queue_->Plugins(views);
  if (!plugins) {
    return Error("fail: " + plugins.error().message() + ", expected one of the header's");
  }
  return plugins;
}

// `all`: also pods that nobody said were touched. That catches an engine that moves a pod and tells
// no observer.
void Replayer::TellChanges(bool all, TraceOutcome* outcome) {
  const auto tell = [&](TracedPods::Entry& entry) {
    std::string place = PlaceText(queue(), plugins(), header_.start, entry.full_name);
    if (place == entry.place) return;
    outcome->changed[pods_.DisplayName(entry)] = place;
    entry.place = std::move(place);
  };
  if (all) {
    for (auto& [name, entry] : pods_.entries()) tell(entry);
    return;
  }
  for (const std::string& name : touched_.names) tell(pods_.entries().at(name));
}

}  // namespace schedq
