// What pods showed and what was true, over time: the measures by which KEP-5501's models differ.
//
// Purpose: compares what PreEnqueue last said about each pod with the condition that the server
// shows, at every change of either.
// Threads: one, that of a simulated run.
// Memory: that of the pods seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/names/name_key.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"

namespace schedq {

struct StatusMeasures {
  double stale_pod_seconds = 0;  // Time in which a NotReadyForScheduling message was not true.
  double blind_pod_seconds = 0;  // Time in which a rejected pod showed no message at all.
  uint64_t flickers = 0;         // A message was set and then cleared within the window.

  bool operator==(const StatusMeasures&) const = default;
};

class StatusAudit final : public QueueObserver {
 public:
  explicit StatusAudit(const Clock* clock) : clock_(*clock) {}

  // From the queue.
  void OnGated(const PodRef& pod, PluginId plugin, std::string_view message,
               const PodMove& move) override;
  void OnPassed(const PodRef& pod, const PodMove& move) override;
  void OnDeleted(const PodRef& pod, const PodMove& move) override;
  // From the server, when a change is made.
  void OnStored(const PodRef& before, const PodRef& after);

  // All until now.
  StatusMeasures Measures();

 private:
  static constexpr Duration kFlickerWindow = std::chrono::seconds(5);

  struct PodState {
    bool is_rejected = false;
    std::string truth;
    bool shows_message = false;  // Any PodScheduled=False condition.
    bool shows_ours = false;     // With our reason.
    std::string shown;
    Instant since{};  // The measures hold the time before it.
    Instant set_at{};
  };

  PodState& Account(const Pod& pod);
  void Settle(PodState& state);

  const Clock& clock_;
  std::unordered_map<std::string, PodState, NameHash> pods_;  // By "namespace/name".
  StatusMeasures measures_;
};

}  // namespace schedq
