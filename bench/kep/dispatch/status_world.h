// A queue whose pods are gated by a script, and the reporter and server that show the rejections,
// for the scenarios of KEP-5501.
//
// Purpose: a scenario sets the plugin and the reason that reject each pod, and changes them over
// time. The engine, the reporter, the call queue and the server are the product's own.
// Threads: one; time is virtual.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/report/status_audit.h"
#include "dispatcher/report/status_model.h"
#include "dispatcher/report/status_reporter.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "schedq/api_calls.h"  // IWYU pragma: keep
#include "schedq/assembled_queue.h"
#include "schedq/engine_kind.h"

namespace schedq {

// The plugins of the script. They differ in the message for the pod's owner, in models where
// plugins choose it.
enum class Rejector : uint8_t {
  kReports,    // Reports its reason.
  kTransient,  // Reports nothing, because the rejection will end by itself.
  kSilent,     // Never reports anything.
};

struct StatusWorldOptions {
  EngineKind engine = EngineKind::kLockfree;
  bool gates_on = true;
  StatusModel model = StatusModel::kImplicitDelayed;
  uint64_t seed = 1;
  double calls_per_second = 50;  // 0: no limit.
  Duration latency = std::chrono::milliseconds(10);
  Duration latency_extra{};
};

// The outcome of a scenario.
struct StatusOutcome {
  StatusCounts counts;
  StatusMeasures measures;
  ServerCounts server;
  uint64_t calls_added = 0;  // Calls that were added to the call queue.
  uint64_t calls_ended = 0;
  std::vector<Duration> stored;    // The times since the start of the server's changes of pods.
  uint64_t wrong_at_end = 0;       // Pods that show a wrong message.
  uint64_t disturbed_seconds = 0;  // Seconds with other counts than without the outage.
  std::vector<Duration> binding_waits;  // The times from Bind to the call's start, ascending.
};

class StatusWorld final : public CallListener {
 public:
  explicit StatusWorld(const StatusWorldOptions& options);
  ~StatusWorld() override;

  VirtualClock& clock() { return clock_; }
  EmbeddedApiServer& server() { return server_; }
  AssembledQueue& queue() { return *queue_; }
  CallQueue<>& calls() { return queue_->api_calls()->queue(); }
  Random& random() { return random_; }

  // Creates a pod that is rejected for `reason` ("": it is accepted), and adds it to the queue.
  void AddPod(const std::string& name, Rejector rejector, const std::string& reason,
              bool has_gates = false);
  // Changes the pod's rejection, and has the queue evaluate the pod again.
  void SetReason(const std::string& name, Rejector rejector, const std::string& reason);
  // Does the same after `delay`.
  void SetReasonAfter(Duration delay, const std::string& name, Rejector rejector,
                      const std::string& reason);
  // Sends the binding of an accepted pod to some node.
  void Bind(const std::string& name);
  void At(Duration delay, std::function<void()> action);
  void Run(Duration duration) { clock_.AdvanceBy(duration); }

  StatusOutcome Outcome();

  void OnEnd(const ApiCall& call, CallEnd end, const Status& status) override;

 private:
  struct Script {
    Rejector rejector = Rejector::kReports;
    std::string reason;
  };

  void OnWatch(const PodRef& before, const PodRef& after);
  std::vector<Plugin> MakePlugins();
  bool MayEnter(const Pod& pod, Rejector rejector, std::string* message) const;
  uint64_t WrongPods() const;
  void CountCalls(StatusOutcome* outcome) const;

  const StatusWorldOptions options_;
  VirtualClock clock_{Instant(std::chrono::seconds(1'700'000'000))};
  Random random_;
  std::unordered_map<std::string, Script> scripts_;  // By the pod's name.
  std::unordered_map<std::string, PodRef> pods_;
  std::vector<Duration> binding_waits_;
  std::vector<Duration> stored_;
  EmbeddedApiServer server_;
  StatusAudit audit_{&clock_};
  std::unique_ptr<AssembledQueue> queue_;
};

}  // namespace schedq
