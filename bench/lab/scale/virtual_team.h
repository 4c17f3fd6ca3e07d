// Virtual threads that run an operation's real code on the model of coherence.
//
// Purpose: `schedq scale` lets up to 128 of them work on one structure. Each has a clock in ticks;
// an access to an atomic or to memory that atomics guard takes so many ticks, and the thread whose
// clock is behind all others goes next. So threads interleave at the granularity of accesses, and
// the thread that waits for a line falls behind as it would on a machine. With the same seed, the
// same code and the same sequence of allocations the run is the same.
// When not to use it: to find faults; the model checker (tests/support/model) does that. A run here
// is one interleaving, and it is sequentially consistent.
//
// A tick is about a nanosecond. What matters is the ratio: an access with the instructions around
// it 4, an update 8, a transfer 60; plus up to as much again, drawn by the seed, so that threads do
// not go in step. A line that has come stays for 20 ticks at least, so that what its thread does
// next with it mostly succeeds; other threads' transfers of it wait so long, and go one after the
// other. A thread that sleeps wakes 5,000 ticks after it was woken.
// Threads: one OS thread. The virtual threads are fibers on it, so the code must not block, and
// must not throw out of its body.
// Memory: 1 MiB of address space a thread; the lines (cache_lines.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/lab/scale/cache_lines.h"
#include "engine/base/random.h"

namespace schedq::scale {

struct Ticks {
  static constexpr uint64_t kAccess = 4;
  static constexpr uint64_t kUpdate = 8;
  static constexpr uint64_t kTransfer = 60;
  static constexpr uint64_t kStay = 20;
  static constexpr uint64_t kPause = 40;
  static constexpr uint64_t kWake = 5000;
};

class VirtualTeam {
 public:
  // The one that exists; null: accesses are not counted.
  static VirtualTeam* Current() { return current_; }

  VirtualTeam(uint32_t threads, uint64_t seed);
  ~VirtualTeam();
  VirtualTeam(const VirtualTeam&) = delete;
  VirtualTeam& operator=(const VirtualTeam&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(threads_.size()); }
  CacheLines& lines() { return lines_; }

  // Runs body(0) ... body(size() - 1) until all have returned. Several runs share the lines. What
  // the caller does outside counts as the first thread's, without taking time.
  void Run(const std::function<void(uint32_t)>& body);

  // From the bodies, by way of the atomics and the seam.
  uint32_t thread() const { return running_; }
  void Touch(const void* address, size_t bytes, Access access);
  void Pause();
  // Sleeps until the word is woken.
  void Wait(const void* word);
  void Wake(const void* word, bool all);

 private:
  struct Fibers;
  struct Thread {
    uint64_t clock = 0;
    const void* sleeps_at = nullptr;
    bool is_finished = false;
  };

  // Lets threads that are behind go first.
  void Yield();
  void Take(uint64_t ticks);
  void WaitFor(const CacheLines::Line& line, Access access);
  // The thread that goes next, and at which clock another one will; size(): none.
  uint32_t Next();

  static VirtualTeam* current_;

  CacheLines lines_;
  Random random_;
  std::vector<Thread> threads_;
  std::unique_ptr<Fibers> fibers_;  // While Run runs.
  uint32_t running_ = 0;
  uint64_t others_clock_ = 0;
};

}  // namespace schedq::scale
