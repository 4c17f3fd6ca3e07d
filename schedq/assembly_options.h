// What an assembled queue is made of.
//
// AssembledQueue::Create checks all of it and refuses with one line that says what is missing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatcher/report/status_model.h"
#include "engine/backoff.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/gates.h"
#include "engine/ports.h"
#include "hints/plugin.h"
#include "schedq/engine_kind.h"

namespace schedq {

class ApiSink;
class Clock;
class MetricsRegistry;
class SchedulingQueue;
class World;
struct QueueOptions;

// Makes the plugins. What they ask about the cluster is in `world`, which outlives them.
using PluginSource = std::function<Result<std::vector<Plugin>>(World* world)>;

// Makes an engine that is none of the two: a test's, with faults or an observer around it.
using QueueMaker = std::function<std::unique_ptr<SchedulingQueue>(QueueOptions options)>;

// Which thread starts the calls that are due.
enum class CallDriver : uint8_t {
  kOwnThread,  // One that the assembled queue starts and ends. For the machine's clock.
  kClock,      // The one that advances the clock. For a virtual clock, and programs of one thread.
};

// Calls to the API server: patches of a pod's status, nominations, bindings. They need the gate
// SchedulerAsyncAPICalls.
struct ApiCallOptions {
  // Executes the calls; outlives the queue, but with kClock answers none after the queue's end.
  // Required.
  ApiSink* sink = nullptr;
  CallDriver driver = CallDriver::kOwnThread;
  uint32_t in_flight_max = 50;
  double calls_per_second = 50;  // 0: no limit.
  uint32_t burst = 100;
  bool events_have_client = false;  // Events of patches take no token of this client.
  // Rejections by PreEnqueue (gate SchedulerPreEnqueuePodStatus).
  StatusModel status_model = StatusModel::kImplicitDelayed;
  Duration status_delay = std::chrono::seconds(5);
  // False: an attempt that fails sends no condition; the caller sends one of its own.
  bool reports_failures = true;
  // False: the caller tells ApiCalls::Seen of each version as its watch delivers it, ahead of
  // PodUpdated, because its handlers lag behind.
  bool sees_with_updates = true;
  MetricsRegistry* metrics = nullptr;  // Null: the assembled queue's own.
  // As in CallQueueOptions: what is thrown where the end of a call is told stops nothing, and is
  // logged. Whoever must not go on without it learns of it here, instead of the log.
  std::function<void()> on_exception = nullptr;
};

struct AssemblyOptions {
  EngineKind engine = EngineKind::kLockfree;
  Clock* clock = nullptr;  // Outlives the queue. Null: the machine's, owned by the queue.
  PluginSource plugins;    // Empty: kube-scheduler's, as hints/plugins models them.
  // Plugins beside those, out-of-tree ones for instance (schedq/plugin_library.h).
  std::vector<PluginSource> further_plugins;
  Gates gates;
  BackoffPolicy backoff;
  Duration max_in_unschedulable = std::chrono::minutes(5);
  // Pods that the queue knows at one time; further ones are refused. 0: as many as it can hold.
  uint64_t pods_max = 0;
  std::vector<QueueObserver*> observers;    // Each outlives the queue.
  std::optional<ApiCallOptions> api_calls;  // Empty: no dispatcher.

  // A batch of very many hints may be judged on several threads.
  bool judges_in_parallel = true;
  // What the durations of plugins and hints are measured with. Null: the machine's steady clock.
  MonotonicTime (*now)() = nullptr;
  // False: PreEnqueue functions are not timed.
  bool measures_pre_enqueue = true;
  // False: hints are neither timed nor counted.
  bool measures_hints = true;
  QueueMaker make_queue;  // Empty: the engine as it is.
};

// An error says which option is missing or wrong.
Status CheckOptions(const AssemblyOptions& options);

}  // namespace schedq
