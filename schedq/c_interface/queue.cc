// The functions of schedq/schedq.h that take a queue, over an assembled queue.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/gates.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/attempt.h"
#include "schedq/c_interface/failure.h"
#include "schedq/c_interface/handles.h"
#include "schedq/c_interface/objects.h"
#include "schedq/c_interface/plugins.h"
#include "schedq/c_interface/versioned.h"
#include "schedq/c_interface/views.h"
#include "schedq/engine_kind.h"
#include "schedq/plugin_library.h"
#include "schedq/schedq.h"

namespace schedq {
namespace {

static_assert(static_cast<int>(Place::kAbsent) == SCHEDQ_PLACE_ABSENT &&
                  static_cast<int>(Place::kActive) == SCHEDQ_PLACE_ACTIVE &&
                  static_cast<int>(Place::kBackoff) == SCHEDQ_PLACE_BACKOFF &&
                  static_cast<int>(Place::kErrorBackoff) == SCHEDQ_PLACE_ERROR_BACKOFF &&
                  static_cast<int>(Place::kUnschedulable) == SCHEDQ_PLACE_UNSCHEDULABLE &&
                  static_cast<int>(Place::kGated) == SCHEDQ_PLACE_GATED &&
                  static_cast<int>(Place::kInFlight) == SCHEDQ_PLACE_IN_FLIGHT &&
                  static_cast<int>(Place::kIncomplete) == SCHEDQ_PLACE_INCOMPLETE &&
                  static_cast<int>(Place::kPending) == SCHEDQ_PLACE_PENDING,
              "places have the numbers of the C interface");

Status ReadGates(const schedq_queue_options& given, Gates* gates) {
  const auto list = ListOf("gates", given.gates, given.gate_count);
  if (!list) return list.error();
  GateRequest request;
  for (const schedq_gate& each : *list) {
    const std::optional<Gate> gate = ParseGate(TextOf(each.name));
    if (!gate) return Error(std::string("there is no gate '") + TextOf(each.name) + "'");
    request.Set(*gate, each.on != 0);
  }
  const Result<Gates> resolved = Gates::Resolve(request);
  if (!resolved) return resolved.error();
  *gates = *resolved;
  return Status::Ok();
}

// 0 leaves the default.
Status ReadDuration(const char* what, int64_t milliseconds, int64_t least, Duration* duration) {
  if (milliseconds < least) {
    return Error(std::string(what) + " is " + std::to_string(milliseconds) + ", expected " +
                 std::to_string(least) + " or more");
  }
  if (milliseconds == 0) return Status::Ok();
  // More than the longest duration is that.
  constexpr auto kLongest = std::chrono::floor<std::chrono::milliseconds>(Duration::max());
  *duration = milliseconds < 0                  ? Duration(0)
              : milliseconds > kLongest.count() ? Duration::max()
                                                : std::chrono::milliseconds(milliseconds);
  return Status::Ok();
}

Status ReadTimes(const schedq_queue_options& given, AssemblyOptions* options) {
  Status status =
      ReadDuration("backoff_ms_initial", given.backoff_ms_initial, 0, &options->backoff.initial);
  if (!status) return status;
  status = ReadDuration("backoff_ms_max", given.backoff_ms_max, -1, &options->backoff.maximum);
  if (!status) return status;
  return ReadDuration("in_unschedulable_ms_max", given.in_unschedulable_ms_max, 0,
                      &options->max_in_unschedulable);
}

Status ReadPlugins(const schedq_queue_options& given, AssemblyOptions* options) {
  if (given.leaves_out_builtin_plugins != 0) {
    options->plugins = [](World*) { return std::vector<Plugin>(); };
  }
  const auto plugins = ListOf("plugins", given.plugins, given.plugin_count);
  if (!plugins) return plugins.error();
  for (const schedq_plugin* plugin : *plugins) {
    Result<PluginSource> source = SourceOf(plugin);
    if (!source) return source.error();
    options->further_plugins.push_back(std::move(*source));
  }
  const auto files = ListOf("plugin_files", given.plugin_files, given.plugin_file_count);
  if (!files) return files.error();
  for (const char* file : *files) {
    Result<PluginLibrary> library = PluginLibrary::Load(TextOf(file));
    if (!library) return library.error();
    for (const PluginSource& source : library->sources()) {
      options->further_plugins.push_back(source);
    }
  }
  return Status::Ok();
}

Status ReadOptions(const schedq_queue_options* given, AssemblyOptions* options) {
  if (given == nullptr) return Status::Ok();
  schedq_queue_options read;
  if (Status status = ReadVersioned("options", given, &read); !status) return status;
  if (read.engine != nullptr) {
    const Result<EngineKind> engine = ParseEngine(read.engine);
    if (!engine) {
      return Error(std::string("engine: unknown engine '") + read.engine +
                   "', expected lockfree or classic");
    }
    options->engine = *engine;
  }
  options->pods_max = read.pods_max;
  options->judges_in_parallel = read.judges_on_callers_thread == 0;
  if (Status status = ReadGates(read, &options->gates); !status) return status;
  if (Status status = ReadTimes(read, options); !status) return status;
  return ReadPlugins(read, options);
}

std::string NameOf(const char* namespace_name, const char* name) {
  return QualifiedName(TextOf(namespace_name), TextOf(name));
}

// How the queue took what it was told of. Names that are too long were refused before.
schedq_status Taken(const Status& status) {
  return status ? SCHEDQ_OK : Fail(SCHEDQ_FULL, status.error().message());
}

schedq_status NotFound(const std::string& pod) {
  return Fail(SCHEDQ_NOT_FOUND, "there is no pod " + pod + " in the queue");
}

// The queue's own version of a pod; null when it has none.
PodRef KnownPod(const schedq_queue* queue, const std::string& name) {
  const PodWhereabouts whereabouts = queue->assembled->Where(name);
  return whereabouts.live ? whereabouts.pod : nullptr;
}

schedq_status Sent(const schedq_queue* queue, const ClusterEvent& event,
                   const schedq_object* before, const schedq_object* after) {
  const Result<ObjectRef> old_version = ObjectOf(before, event.resource);
  if (!old_version) return Invalid(old_version.error());
  const Result<ObjectRef> new_version = ObjectOf(after, event.resource);
  if (!new_version) return Invalid(new_version.error());
  return queue->assembled->Event(event, {*old_version, *new_version}) ? SCHEDQ_OK : SCHEDQ_NOTHING;
}

// Both versions of a node or a claim, to be told of.
template <typename Tell>
schedq_status Changed(schedq_queue* queue, const schedq_object* before, const schedq_object* after,
                      Resource resource, Tell tell) {
  if (queue == nullptr) return IsNull("queue");
  if (before == nullptr && after == nullptr) return IsNull("one of before and after");
  const Result<ObjectRef> old_version = ObjectOf(before, resource);
  if (!old_version) return Invalid(old_version.error());
  const Result<ObjectRef> new_version = ObjectOf(after, resource);
  if (!new_version) return Invalid(new_version.error());
  tell(queue->assembled.get(), *old_version, *new_version);
  return SCHEDQ_OK;
}

schedq_status GroupChanged(schedq_queue* queue, const schedq_group* before,
                           const schedq_group* after) {
  if (before == nullptr && after == nullptr) return IsNull("one of before and after");
  const Result<PodGroupRef> old_version = GroupOf(before);
  if (!old_version) return Invalid(old_version.error());
  const Result<PodGroupRef> new_version = GroupOf(after);
  if (!new_version) return Invalid(new_version.error());
  if (before != nullptr && after != nullptr && (*old_version)->key != (*new_version)->key) {
    return Fail(SCHEDQ_INVALID, "group " + (*new_version)->key.name + " is another than " +
                                    (*old_version)->key.name + ", expected versions of one group");
  }
  queue->assembled->GroupChanged(*old_version, *new_version);
  return SCHEDQ_OK;
}

schedq_status Given(std::optional<Attempt> popped, schedq_attempt** attempt) {
  *attempt = nullptr;
  if (!popped) return SCHEDQ_NOTHING;
  *attempt = new schedq_attempt(std::move(*popped));
  return SCHEDQ_OK;
}

template <typename Act>
schedq_status WithQueue(schedq_queue* queue, Act act) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    act(queue->assembled.get());
    return SCHEDQ_OK;
  });
}

schedq_status UpdatePod(schedq_queue* queue, const schedq_pod* before, const schedq_pod* after) {
  const Result<PodRef> new_version = PodOf(after);
  if (!new_version) return Invalid(new_version.error());
  PodRef old_version;
  if (before != nullptr) {
    const Result<PodRef> given = PodOf(before);
    if (!given) return Invalid(given.error());
    old_version = *given;
  } else {
    old_version = KnownPod(queue, QualifiedName(**new_version));
    if (old_version == nullptr) return NotFound(QualifiedName(**new_version));
  }
  if (QualifiedName(*old_version) != QualifiedName(**new_version) ||
      old_version->uid != (*new_version)->uid) {
    return Fail(SCHEDQ_INVALID, "pod " + QualifiedName(**new_version) + " with uid '" +
                                    (*new_version)->uid + "' is another than " +
                                    QualifiedName(*old_version) + " with uid '" + old_version->uid +
                                    "', expected versions of one pod");
  }
  return Taken(queue->assembled->PodChanged(old_version, *new_version));
}

schedq_status DeletePod(schedq_queue* queue, const schedq_pod* pod) {
  const Result<PodRef> given = PodOf(pod);
  if (!given) return Invalid(given.error());
  PodRef last = *given;
  if (last->node_name.empty()) {
    last = KnownPod(queue, QualifiedName(**given));
    if (last == nullptr) return NotFound(QualifiedName(**given));
  }
  return Taken(queue->assembled->PodChanged(last, nullptr));
}

}  // namespace
}  // namespace schedq

using schedq::Fail;
using schedq::Guarded;
using schedq::IsNull;
using schedq::TextOf;

const char* schedq_version(void) { return SCHEDQ_VERSION_TEXT; }
uint32_t schedq_abi_version(void) { return SCHEDQ_ABI_VERSION; }
void schedq_text_free(char* text) { std::free(text); }

schedq_status schedq_queue_create(const schedq_queue_options* options, schedq_queue** queue) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    *queue = nullptr;
    schedq::AssemblyOptions of_assembly;
    if (schedq::Status status = schedq::ReadOptions(options, &of_assembly); !status) {
      return schedq::Invalid(status.error());
    }
    auto made = schedq::AssembledQueue::Create(std::move(of_assembly));
    if (!made) return schedq::Invalid(made.error());
    *queue = new schedq_queue{std::move(*made)};
    return SCHEDQ_OK;
  });
}

void schedq_queue_destroy(schedq_queue* queue) {
  static_cast<void>(Guarded([&] {
    delete queue;
    return SCHEDQ_OK;
  }));
}

schedq_status schedq_queue_pod_add(schedq_queue* queue, const schedq_pod* pod) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    const schedq::Result<schedq::PodRef> given = schedq::PodOf(pod);
    if (!given) return schedq::Invalid(given.error());
    return schedq::Taken(queue->assembled->PodChanged(nullptr, *given));
  });
}

schedq_status schedq_queue_pod_update(schedq_queue* queue, const schedq_pod* before,
                                      const schedq_pod* after) {
  return Guarded(
      [&] { return queue == nullptr ? IsNull("queue") : schedq::UpdatePod(queue, before, after); });
}

schedq_status schedq_queue_pod_delete(schedq_queue* queue, const schedq_pod* pod) {
  return Guarded(
      [&] { return queue == nullptr ? IsNull("queue") : schedq::DeletePod(queue, pod); });
}

schedq_status schedq_queue_pod_bound(schedq_queue* queue, const char* namespace_name,
                                     const char* name, const char* node) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    const std::string pod_name = schedq::NameOf(namespace_name, name);
    const schedq::PodRef known = schedq::KnownPod(queue, pod_name);
    if (known == nullptr) return schedq::NotFound(pod_name);
    auto bound = std::make_shared<schedq::Pod>(*known);
    bound->node_name = TextOf(node);
    if (bound->node_name.empty()) return Fail(SCHEDQ_INVALID, "node is empty");
    return schedq::Taken(queue->assembled->PodChanged(known, std::move(bound)));
  });
}

schedq_status schedq_queue_node_changed(schedq_queue* queue, const schedq_object* before,
                                        const schedq_object* after) {
  return Guarded([&] {
    return schedq::Changed(queue, before, after, schedq::Resource::kNode,
                           [](schedq::AssembledQueue* assembled, const auto&... versions) {
                             assembled->NodeChanged(versions...);
                           });
  });
}

schedq_status schedq_queue_claim_changed(schedq_queue* queue, const schedq_object* before,
                                         const schedq_object* after) {
  return Guarded([&] {
    return schedq::Changed(queue, before, after, schedq::Resource::kResourceClaim,
                           [](schedq::AssembledQueue* assembled, const auto&... versions) {
                             assembled->ClaimChanged(versions...);
                           });
  });
}

schedq_status schedq_queue_group_changed(schedq_queue* queue, const schedq_group* before,
                                         const schedq_group* after) {
  return Guarded([&] {
    return queue == nullptr ? IsNull("queue") : schedq::GroupChanged(queue, before, after);
  });
}

schedq_status schedq_queue_event(schedq_queue* queue, const char* resource, const char* action,
                                 const schedq_object* before, const schedq_object* after) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    const auto kind = schedq::ParseResource(TextOf(resource));
    if (!kind) {
      return Fail(SCHEDQ_INVALID, std::string("unknown resource '") + TextOf(resource) + "'");
    }
    const auto what = schedq::ParseAction(TextOf(action));
    if (!what) {
      return Fail(SCHEDQ_INVALID, std::string("unknown action '") + TextOf(action) + "'");
    }
    return schedq::Sent(queue, schedq::MakeEvent(*kind, *what), before, after);
  });
}

schedq_status schedq_queue_pop(schedq_queue* queue, int64_t timeout_ns, schedq_attempt** attempt) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    if (attempt == nullptr) return IsNull("attempt");
    std::optional<schedq::Duration> timeout;
    if (timeout_ns >= 0) timeout = std::chrono::nanoseconds(timeout_ns);
    return schedq::Given(queue->assembled->Pop(timeout), attempt);
  });
}

schedq_status schedq_queue_try_pop(schedq_queue* queue, schedq_attempt** attempt) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    if (attempt == nullptr) return IsNull("attempt");
    return schedq::Given(queue->assembled->TryPop(), attempt);
  });
}

schedq_status schedq_queue_activate(schedq_queue* queue, const schedq_pod_name* pods,
                                    size_t count) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    const auto list = schedq::ListOf("pods", pods, count);
    if (!list) return schedq::Invalid(list.error());
    std::vector<schedq::PodRef> known;
    for (const schedq_pod_name& each : *list) {
      const std::string name = schedq::NameOf(each.namespace_name, each.name);
      known.push_back(schedq::KnownPod(queue, name));
      if (known.back() == nullptr) return schedq::NotFound(name);
    }
    queue->assembled->Activate(known);
    return SCHEDQ_OK;
  });
}

schedq_status schedq_queue_nominate(schedq_queue* queue, const char* namespace_name,
                                    const char* name, const char* node) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    const std::string pod_name = schedq::NameOf(namespace_name, name);
    const schedq::PodRef known = schedq::KnownPod(queue, pod_name);
    if (known == nullptr) return schedq::NotFound(pod_name);
    const schedq::Status nominated = queue->assembled->Nominate(known, TextOf(node));
    // The pod is known, so it is the node's name that is too long.
    return nominated ? SCHEDQ_OK : schedq::Invalid(nominated.error());
  });
}

schedq_status schedq_queue_run(schedq_queue* queue) {
  return schedq::WithQueue(queue, [](schedq::AssembledQueue* assembled) { assembled->Run(); });
}
schedq_status schedq_queue_flush_backoff(schedq_queue* queue) {
  return schedq::WithQueue(queue,
                           [](schedq::AssembledQueue* assembled) { assembled->FlushBackoff(); });
}
schedq_status schedq_queue_flush_unschedulable(schedq_queue* queue) {
  return schedq::WithQueue(
      queue, [](schedq::AssembledQueue* assembled) { assembled->FlushUnschedulable(); });
}
schedq_status schedq_queue_close(schedq_queue* queue) {
  return schedq::WithQueue(queue, [](schedq::AssembledQueue* assembled) { assembled->Close(); });
}

schedq_status schedq_queue_counts(const schedq_queue* queue, schedq_counts* counts) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    const schedq::QueueCounts of_queue = queue->assembled->Counts();
    const schedq_counts written = {
        .size = sizeof(schedq_counts),
        .active = of_queue.active,
        .backoff = of_queue.backoff,
        .error_backoff = of_queue.error_backoff,
        .unschedulable = of_queue.unschedulable,
        .gated = of_queue.gated,
        .in_flight = of_queue.in_flight,
        .incomplete = of_queue.incomplete,
        .pending = of_queue.pending,
    };
    const schedq::Status status = schedq::WriteVersioned("counts", written, counts);
    return status ? SCHEDQ_OK : schedq::Invalid(status.error());
  });
}

schedq_status schedq_queue_where(const schedq_queue* queue, const char* namespace_name,
                                 const char* name, schedq_place* place) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    if (place == nullptr) return IsNull("place");
    *place = static_cast<schedq_place>(
        queue->assembled->Where(schedq::NameOf(namespace_name, name)).place);
    return SCHEDQ_OK;
  });
}

schedq_status schedq_queue_metrics(const schedq_queue* queue, char** text) {
  return Guarded([&] {
    if (queue == nullptr) return IsNull("queue");
    if (text == nullptr) return IsNull("text");
    const std::string metrics = queue->assembled->MetricsText();
    *text = static_cast<char*>(std::malloc(metrics.size() + 1));
    if (*text == nullptr) throw std::bad_alloc();
    std::memcpy(*text, metrics.c_str(), metrics.size() + 1);
    return SCHEDQ_OK;
  });
}
