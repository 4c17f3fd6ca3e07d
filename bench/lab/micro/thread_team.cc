#include "bench/lab/micro/thread_team.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
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

// Opens once, for everybody who waits at it.
class Gate {
 public:
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }

  void OpenWhenWaiting(int expected) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == expected; });
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool is_open_ = false;
};

}  // namespace

double RunTeam(int threads, const std::function<void(int)>& work) {
  std::vector<Span> spans(static_cast<size_t>(threads));
  if (threads == 1) {
    spans[0] = TimeOne(work, 0);
    return WallSeconds(spans);
  }
  Gate gate;
  std::vector<std::thread> team;
  for (int index = 0; index < threads; ++index) {
    team.emplace_back([&gate, &spans, &work, index] {
      gate.Wait();
      spans[static_cast<size_t>(index)] = TimeOne(work, index);
    });
  }
  gate.OpenWhenWaiting(threads);
  for (std::thread& member : team) member.join();
  return WallSeconds(spans);
}

}  // namespace schedq
