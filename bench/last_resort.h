// Shows what was measured when the work does not end in time after a signal.
//
// Purpose: work that polls Interrupted() ends by itself. A measured path that takes a minute to
// prepare does not poll. kPollingMax after the signal, a thread of its own runs the function that
// prints and writes what is finished, and ends the process.
// When not to use it: in place of polling. What the unfinished work has measured is lost.
// Threads: the function runs on another thread while the work still runs; what both use needs a
// lock. All else is for the main thread.
// Invariants:
//  1. Either the function runs or Disarm returns, never both.
//  2. Once the function runs, the process ends; its exit code says the signal.
// Memory: one thread, which sleeps.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace schedq {

class LastResort {
 public:
  // One at a time.
  explicit LastResort(std::function<void()> finish);
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;
  ~LastResort();

  // The work has ended and its owner prints what was measured. Does not return if the function has
  // begun.
  void Disarm();

 private:
  enum class State : int { kArmed, kDisarmed, kFinishing };

  // Whether this caller is the first.
  bool Decide(State state);
  void Wait();
  bool SleepUntilDeadline();

  const std::function<void()> finish_;
  // Written by Disarm and by the thread: the first one decides what is done.
  std::atomic<State> state_{State::kArmed};
  std::thread thread_;
};

}  // namespace schedq
