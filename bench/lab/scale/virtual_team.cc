#include "bench/lab/scale/virtual_team.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <boost/context/stack_context.hpp>
#include <limits>
#include <utility>

#include "engine/base/result.h"

namespace schedq::scale {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// AddressSanitizer marks parts of each frame, and the first frames of a fiber never return:
// whatever the system maps at that place next would have the marks.
class FiberStacks {
 public:
  boost::context::stack_context allocate() { return stacks_.allocate(); }
  void deallocate(boost::context::stack_context& stack) noexcept {
    ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(stack.sp) - stack.size, stack.size);
    stacks_.deallocate(stack);
  }

 private:
  boost::context::protected_fixedsize_stack stacks_{kStackBytes};
};

}  // namespace

struct VirtualTeam::Fibers {
  std::vector<boost::context::fiber> threads;
  boost::context::fiber host;
};

VirtualTeam* VirtualTeam::current_ = nullptr;

VirtualTeam::VirtualTeam(uint32_t threads, uint64_t seed) : random_(seed), threads_(threads) {
  SCHEDQ_CHECK(threads > 0 && threads <= kVirtualThreadsMax, "a line has a bit for each thread");
  SCHEDQ_CHECK(current_ == nullptr, "one team at a time");
  current_ = this;
}

VirtualTeam::~VirtualTeam() { current_ = nullptr; }

void VirtualTeam::Run(const std::function<void(uint32_t)>& body) {
  fibers_ = std::make_unique<Fibers>();
  uint64_t latest = 0;
  for (const Thread& thread : threads_) latest = std::max(latest, thread.clock);
  for (uint32_t thread = 0; thread < size(); ++thread) {
    threads_[thread].clock = latest;
    threads_[thread].is_finished = false;
    fibers_->threads.emplace_back(std::allocator_arg, FiberStacks(),
                                  [this, thread, &body](boost::context::fiber&& host) {
                                    fibers_->host = std::move(host);
                                    body(thread);
                                    threads_[thread].is_finished = true;
                                    return std::move(fibers_->host);
                                  });
  }
  for (uint32_t next = Next(); next < size(); next = Next()) {
    running_ = next;
    fibers_->threads[next] = std::move(fibers_->threads[next]).resume();
  }
  const auto is_finished = [](const Thread& thread) { return thread.is_finished; };
  SCHEDQ_CHECK(std::all_of(threads_.begin(), threads_.end(), is_finished),
               "a virtual thread sleeps and nobody wakes it");
  fibers_.reset();
  running_ = 0;
}

uint32_t VirtualTeam::Next() {
  uint32_t next = size();
  uint64_t lowest = kNever;
  others_clock_ = kNever;
  for (uint32_t thread = 0; thread < size(); ++thread) {
    const Thread& one = threads_[thread];
    if (one.is_finished || one.sleeps_at != nullptr) continue;
    if (one.clock < lowest) {
      others_clock_ = lowest;
      lowest = one.clock;
      next = thread;
    } else {
      others_clock_ = std::min(others_clock_, one.clock);
    }
  }
  return next;
}

void VirtualTeam::Yield() {
  while (threads_[running_].clock > others_clock_ || threads_[running_].sleeps_at != nullptr) {
    fibers_->host = std::move(fibers_->host).resume();
  }
}

void VirtualTeam::Take(uint64_t ticks) {
  threads_[running_].clock += ticks + random_.Below(ticks + 1);
}

void VirtualTeam::Touch(const void* address, size_t bytes, Access access) {
  const auto first = reinterpret_cast<uintptr_t>(address);
  uintptr_t at = first;
  do {
    CacheLines::Line& line = lines_.At(at);
    if (fibers_ == nullptr) {
      lines_.Touch(running_, line, access);
    } else {
      Yield();
      WaitFor(line, access);
      if (lines_.Touch(running_, line, access)) {
        Take(Ticks::kTransfer);
        line.taker = running_;
        line.stays_until = threads_[running_].clock + Ticks::kStay;
      }
      Take(access == Access::kUpdate ? Ticks::kUpdate : Ticks::kAccess);
    }
    at = (at / CacheLines::kLineBytes + 1) * CacheLines::kLineBytes;
  } while (at < first + bytes);
}

// Until the line has come to the thread that got it last, and has stayed there a moment.
void VirtualTeam::WaitFor(const CacheLines::Line& line, Access access) {
  uint64_t& clock = threads_[running_].clock;
  while (line.taker != running_ && clock < line.stays_until &&
         CacheLines::IsTransfer(running_, line, access)) {
    clock = line.stays_until + random_.Below(Ticks::kStay);
    Yield();
  }
}

void VirtualTeam::Pause() {
  if (fibers_ == nullptr) return;
  Take(Ticks::kPause);
  Yield();
}

void VirtualTeam::Wait(const void* word) {
  if (fibers_ == nullptr) return;
  threads_[running_].sleeps_at = word;
  Yield();
}

void VirtualTeam::Wake(const void* word, bool all) {
  if (fibers_ == nullptr) return;
  const uint64_t wakes_at = threads_[running_].clock + Ticks::kWake;
  for (Thread& thread : threads_) {
    if (thread.sleeps_at != word) continue;
    thread.sleeps_at = nullptr;
    thread.clock = std::max(thread.clock, wakes_at);
    others_clock_ = std::min(others_clock_, thread.clock);
    if (!all) return;
  }
}

}  // namespace schedq::scale
