// Lets the clock of a cluster follow the machine's, and runs on the cluster's thread what other
// threads ask of it.
//
// Purpose: the cluster, its controller and the workload's client are the same on both clocks. Here
// one thread runs their timers when the machine's time has come, and between them the calls that
// the scheduler's threads post: the API server is that thread, and nobody takes a lock to call it.
// Threads: Post, wall and IsIdle from any thread; the rest on the cluster's thread.
// Invariants:
//  1. Now() of the cluster's clock never is ahead of the machine's. Inside a timer it is the
//     instant for which the timer was set, so that what a client sends late counts from when it was
//     meant.
//  2. Calls of one thread run in their order.
// Memory: the calls that wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "bench/sim/real/channel.h"
#include "bench/sim/real/part_clock.h"
#include "engine/base/time/real_clock.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"

namespace schedq {

class WallPace {
 public:
  using Call = std::function<void()>;

  WallPace() = default;
  WallPace(const WallPace&) = delete;
  WallPace& operator=(const WallPace&) = delete;

  RealClock& wall() { return wall_; }
  Instant Now() const { return wall_.Now(); }

  void Post(Call call);

  // Runs timers and calls until `done`, called between them, or until `limit`. False: the limit.
  bool RunUntil(VirtualClock* clock, const std::function<bool()>& done, Instant limit);
  // Runs the calls that wait now. False: there were none.
  bool RunCalls();
  // Whether every call that was posted has run.
  bool IsIdle() const { return run_.load() == posted_.load(); }

  ThreadUsage usage() const { return parts_.Usage(); }
  // `is_quiet` is asked before each sleep: whether nobody else has anything to do either.
  void AskWhetherQuiet(std::function<bool()> is_quiet) { is_quiet_ = std::move(is_quiet); }
  // The sleeps that began when it was quiet.
  Duration quiet() const { return quiet_; }

 private:
  // Sleeps until a call comes, and runs it.
  void SleepUntil(VirtualClock* clock, Instant at);

  RealClock wall_;
  Channel<Call> calls_;
  std::atomic<uint64_t> posted_{0};
  std::atomic<uint64_t> run_{0};  // Written by the cluster's thread, after the call.
  PartClock parts_;
  std::function<bool()> is_quiet_;  // May be empty.
  Duration quiet_{};
};

}  // namespace schedq
