// The dispatcher as an assembled queue has it: call queue, reporters, and what drives them.
//
// Purpose: what the queue and its attempts decide becomes calls to the API server; the gates say
// which. What the queue tells (a pod is gated, passes, is deleted) comes through observer().
// Threads: as CallQueue, with driver kOwnThread; with kClock all on the thread that advances the
// clock.
// Lifetime: the queue that is observed must be closed before this is destroyed.
// Memory: the call queue's and the reporters'.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "dispatcher/clock_dispatcher.h"
#include "dispatcher/report/nomination_reporter.h"
#include "dispatcher/report/status_model.h"
#include "dispatcher/report/status_reporter.h"
#include "dispatcher/thread_dispatcher.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "schedq/assembly_options.h"

namespace schedq {

class ApiCalls {
 public:
  // All outlive it.
  struct Surroundings {
    Clock* clock = nullptr;
    MetricsRegistry* metrics = nullptr;
    const Interner* pod_names = nullptr;
    Gates gates;
    UserMessage user_message;  // What plugins say where the status model lets them choose.
  };

  ApiCalls(const ApiCallOptions& options, Surroundings surroundings);
  ~ApiCalls();
  ApiCalls(const ApiCalls&) = delete;
  ApiCalls& operator=(const ApiCalls&) = delete;

  // Hears of the queue's moves.
  QueueObserver* observer();

  // An informer tells of a newer version: waiting calls that it makes vain are dropped.
  void Seen(const Pod& before, const PodRef& after);

  // Shows why an attempt failed. Nobody waits for it.
  void ReportUnschedulable(const PodKey& key, const PodRef& pod, std::string message);
  // Takes back a nominated node after a failed cycle, where the gate is on.
  void ReportFailedCycle(const FailedCycle& cycle);
  // Shows the node that the pod is going to, where the gate is on and there is work to do first.
  Status ReportBindingStart(BindingStart start);
  void SendBinding(const PodKey& key, const PodRef& pod, const std::string& node,
                   CallListener* listener, uint64_t tag);

  // What waits is skipped, and so is all that comes. With a thread of its own: waits for what is
  // in flight.
  void Close();

  bool reports_failures() const { return reports_failures_; }
  bool sees_with_updates() const { return sees_with_updates_; }
  bool nominates() const { return nominates_; }
  CallQueue<>& queue();
  NominationReporter& nominations() { return *nominations_; }
  const StatusReporter* statuses() const { return statuses_.get(); }  // Null: the gate is off.

 private:
  // Where no status reporter listens, the calls of a deleted pod must end all the same.
  class DeletionObserver final : public QueueObserver {
   public:
    explicit DeletionObserver(ApiCalls* calls) : calls_(*calls) {}
    void OnDeleted(const PodRef& pod, const PodMove& move) override;

   private:
    ApiCalls& calls_;
  };

  const bool reports_failures_;
  const bool sees_with_updates_;
  const bool nominates_;
  const Interner& pod_names_;
  DeletionObserver deletions_{this};
  // Calls that end with their dispatcher tell the reporters, which therefore go after it.
  std::unique_ptr<StatusReporter> statuses_;
  std::unique_ptr<NominationReporter> nominations_;
  // One of the two.
  std::unique_ptr<ClockDispatcher> by_clock_;
  std::unique_ptr<ThreadDispatcher> by_thread_;
};

}  // namespace schedq
