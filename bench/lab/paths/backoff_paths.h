// What backing off costs: failing into backoff, flushing windows, popping early.
//
//   N active pods, one by one: TryPop, Event, Fail  -> N pods in backoff, over ten windows
//                                                        |            |
//                                      FlushBackoff each second    TryPop with active empty
//
// One pod is in flight at a time, as with one scheduler: its event is all that it has to judge.
//
// Time is virtual: it moves on by ten seconds over the N failures, so that expirations spread as
// those of a cluster do. With SchedulerPopFromBackoffQ off, order is by exact expiration and
// nothing pops early.
#pragma once

#include <cstdint>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/base/time/virtual_clock.h"

namespace schedq {

struct BackoffOptions {
  EngineKind engine = EngineKind::kLockfree;
  bool pops_from_backoff = true;
  int64_t pods = 0;
};

// N active pods that will back off when they fail; what all paths of backoff share.
class BackoffStage {
 public:
  explicit BackoffStage(const BackoffOptions& options);

  // Pops and fails every pod; while each is in flight an event comes that makes it worth another
  // attempt.
  void FailAll();

  SchedulingQueue& queue() { return stage_.queue(); }
  VirtualClock& clock() { return clock_; }
  uint64_t pods() const { return pods_; }
  uint64_t HintsAsked() const;

 private:
  VirtualClock clock_;
  EngineStage stage_;
  const PluginSet rejector_;
  const ClusterEvent event_;
  ObjectChange change_;
  const uint64_t pods_;
};

// Operation: a pod's way into backoff, with its pop and its event. Answer: all N are there, and
// each was judged once.
class BackoffInsert : public MeasuredPath {
 public:
  explicit BackoffInsert(const BackoffOptions& options) : stage_(options) {}

  void Run() override { stage_.FailAll(); }
  PathOutcome Outcome() override;

 private:
  BackoffStage stage_;
};

// Operation: one pod moved to active by a flush each second. Answer: all N moved, in windows.
class BackoffFlush : public MeasuredPath {
 public:
  explicit BackoffFlush(const BackoffOptions& options) : stage_(options) { stage_.FailAll(); }

  void Run() override;
  PathOutcome Outcome() override;

 private:
  BackoffStage stage_;
  int flushes_that_moved_ = 0;
};

// Operation: one pod popped from backoff because active is empty. Answer: all N come, earlier
// windows first.
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
