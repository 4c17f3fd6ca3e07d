#include "bench/lab/paths/thread_team.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace schedq {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Span {
  SteadyClock::time_point start;
  SteadyClock::time_point end;
};

Span TimeOne(const std::function<void(int)>& work, int index) {
  const SteadyClock::time_point start = SteadyClock::now();
  work(index);
  return {start, SteadyClock::now()};
}

double WallSeconds(const std::vector<Span>& spans) {
  SteadyClock::time_point start = spans.front().start;
  SteadyClock::time_point end = spans.front().end;
  for (const Span& span : spans) {
    start = std::min(start, span.start);
    end = std::max(end, span.end);
  }
  return std::chrono::duration<double>(end - start).count();
}

// Releases all threads of a team at the same time.
class StartLine {
 public:
  // Returns whether the team works, which it does when it is complete.
  bool Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_released_; });
    return is_complete_;
  }

  void ReleaseWhenWaiting(int expected) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == expected; });
    is_complete_ = true;
    is_released_ = true;
    changed_.notify_all();
  }

  void SendHome() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_released_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool is_released_ = false;
  bool is_complete_ = false;
};

}  // namespace

double RunTeam(int threads, const std::function<void(int)>& work) {
  std::vector<Span> spans(static_cast<size_t>(threads));
  if (threads == 1) {
    spans[0] = TimeOne(work, 0);
    return WallSeconds(spans);
  }
  StartLine start_line;
  std::vector<std::jthread> team;
  try {
    for (int index = 0; index < threads; ++index) {
      team.emplace_back([&start_line, &spans, &work, index] {
        if (start_line.Wait()) spans[static_cast<size_t>(index)] = TimeOne(work, index);
      });
    }
  } catch (...) {
    // Memory or threads have run out. Those that there are wait for the others.
    start_line.SendHome();
    throw;
  }
  start_line.ReleaseWhenWaiting(threads);
  team.clear();
  return WallSeconds(spans);
}

}  // namespace schedq
