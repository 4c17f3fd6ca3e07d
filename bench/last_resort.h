// Shows what was measured when the work does not end as it should: not in time after a signal, or
// because memory or threads run out.
//
// Purpose: work that polls Interrupted() ends by itself. A measured path that takes a minute to
// prepare does not poll. kPollingMax after the signal, a thread of its own runs the function that
// prints and writes what is finished, and ends the process. Where memory runs out, Guard runs it,
// or FinishAny, because no exception leaves a destructor or a thread.
// When not to use it: in place of polling. What the unfinished work has measured is lost.
// Threads: the function runs on another thread while the work still runs; what both use needs a
// lock. All else is for the main thread.
// Invariants:
//  1. The function runs at most once, and never beside what follows Disarm.
//  2. Once the function runs, the process ends; its exit code says the signal, or that something
//     ran out.
// Memory: one thread, which sleeps; and kReserveBytes of address space, which the function may use
// when there is no other memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

namespace schedq {

// Why the work ends before its end.
enum class EarlyEnd { kSignal, kShortage };

class LastResort {
 public:
  static constexpr size_t kReserveBytes = size_t{16} << 20;

  // One at a time.
  explicit LastResort(std::function<void(EarlyEnd)> finish);
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;
  ~LastResort();

  // The work has ended and its owner prints what was measured. Does not return if the function has
  // begun.
  void Disarm();

  // Does the work. Where it runs out of something, the function runs before the exception goes on.
  template <typename Work>
  void Guard(Work work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      Finish();
      throw;
    } catch (const std::system_error&) {
      // Threads.
      Finish();
      throw;
    }
  }
  // The same for std::terminate, which knows no LastResort: of the one that there is, if any.
  static void FinishAny();

 private:
  enum class State : int { kArmed, kDisarmed, kFinishing, kFinished };

  // After a shortage.
  void Finish();

  // Whether this caller is the first.
  bool Decide(State state);
  void Wait();
  bool SleepUntilDeadline();

  const std::function<void(EarlyEnd)> finish_;
  // Freed by the thread that finishes after a shortage.
  std::unique_ptr<char[]> reserve_;
  // Written by Disarm and by those that finish: the first one decides what is done.
  std::atomic<State> state_{State::kArmed};
  std::thread thread_;
};

}  // namespace schedq
