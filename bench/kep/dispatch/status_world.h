// A queue whose pods are gated by a script, with everything that reports it to a server: where the
// scenarios of KEP-5501 play.
//
// Purpose: a scenario says which pods are rejected, by whom and why, and when that changes; the
// engine, the reporter, the call queue and the server are the product's own.
// Threads: one; time is virtual.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "dispatcher/report/status_audit.h"
#include "dispatcher/report/status_reporter.h"
#include "dispatcher/server/embedded_api_server.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/time/virtual_clock.h"
#include "schedq/api_calls.h"
#include "schedq/assembled_queue.h"

namespace schedq {

// The plugins of the script. They differ in what they tell the pod's owner where a model lets them
// choose.
enum class Rejector : uint8_t {
  kReports,    // Says what it says inside.
  kTransient,  // Keeps it to itself: it will pass by itself.
  kSilent,     // Keeps everything to itself.
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

// What came out of a scenario.
struct StatusOutcome {
  StatusCounts counts;
  StatusMeasures measures;
  ServerCounts server;
  uint64_t calls_added = 0;  // To the call queue.
  uint64_t calls_ended = 0;
  std::vector<Duration> stored;         // When the server changed a pod, since the start.
  uint64_t wrong_at_end = 0;            // Pods whose shown message is not the truth.
  uint64_t disturbed_seconds = 0;       // When the queue was not as in a run without the outage.
  std::vector<Duration> binding_waits;  // From Bind to the start of the call, ascending.
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

  // Creates a pod that is rejected for `reason` ("": it passes) and gives it to the queue.
  void AddPod(const std::string& name, Rejector rejector, const std::string& reason,
              bool has_gates = false);
  // From now on, and has the pod evaluated again.
  void SetReason(const std::string& name, Rejector rejector, const std::string& reason);
  // The same after `delay`.
  void SetReasonAfter(Duration delay, const std::string& name, Rejector rejector,
                      const std::string& reason);
  // Asks for the binding of a pod that passed, to any node.
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
