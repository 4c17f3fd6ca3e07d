// The paths of backoff: failing into it, flushing windows, popping early.
//
//   N active pods, one by one: TryPop, Event, Fail  -> N pods in backoff, over ten windows
//                                                        |            |
//                                      FlushBackoff each second    TryPop with active empty
//
// One pod is in flight at a time, as with one scheduler, so a failing pod has only its own event to
// judge.
//
// Time is virtual. It advances by ten seconds over the N failures, so that expirations are spread
// as in a cluster. With SchedulerPopFromBackoffQ off, the order is that of exact expirations, and
// no pod is popped early.
#pragma once

#include <cstdint>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/queue.h"
#include "schedq/engine_kind.h"

namespace schedq {

struct BackoffOptions {
  EngineKind engine = EngineKind::kLockfree;
  bool pops_from_backoff = true;
  int64_t pods = 0;
};

// N active pods that will back off when they fail, for all paths of backoff.
class BackoffStage {
 public:
  explicit BackoffStage(const BackoffOptions& options);

  // Pops and fails every pod. An event during its attempt makes the pod worth another attempt.
  void FailAll();

  SchedulingQueue& queue() { return stage_.queue(); }
  VirtualClock& clock() { return clock_; }
  uint64_t pods() const { return pods_; }
  uint64_t PodsJudged() const;

 private:
  VirtualClock clock_;
  EngineStage stage_;
  const PluginSet rejector_;
  const ClusterEvent event_;
  ObjectChange change_;
  const uint64_t pods_;
};

// An operation is a pod's pop, its event and its failure into backoff. Answer: all N pods are in
// backoff, and each was judged once.
class BackoffInsert : public MeasuredPath {
 public:
  explicit BackoffInsert(const BackoffOptions& options) : stage_(options) {}

  void Run() override { stage_.FailAll(); }
  PathOutcome Outcome() override;

 private:
  BackoffStage stage_;
};

// An operation moves one pod to active, by a flush each second. Answer: all N pods were moved,
// window by window.
class BackoffFlush : public MeasuredPath {
 public:
  explicit BackoffFlush(const BackoffOptions& options) : stage_(options) { stage_.FailAll(); }

  void Run() override;
  PathOutcome Outcome() override;

 private:
  BackoffStage stage_;
  int flushes_that_moved_ = 0;
};

// An operation pops one pod from backoff while active is empty. Answer: all N pods were popped,
// those of earlier windows first.
class BackoffPop : public MeasuredPath {
 public:
  explicit BackoffPop(const BackoffOptions& options) : stage_(options) { stage_.FailAll(); }

  void Run() override;
  PathOutcome Outcome() override;

 private:
  BackoffStage stage_;
  uint64_t popped_count_ = 0;
  bool is_in_order_ = true;
};

}  // namespace schedq
