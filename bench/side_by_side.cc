#include "bench/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace schedq {
namespace {

// Runs `loop` on the calling thread and on others, and throws what one of them threw.
void RunOnThreads(size_t threads, const std::function<void()>& loop) {
  std::mutex mutex;  // Guards `first`.
  std::exception_ptr first;
  const auto guarded = [&] {
    try {
      loop();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads - 1);
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(guarded);
  } catch (const std::exception&) {
    // The machine gives no further thread, or no memory for one: those that there are do it all.
  }
  guarded();
  for (std::thread& helper : helpers) helper.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace

void DoSideBySide(size_t count, size_t jobs, const std::function<void(size_t)>& task) {
  // Sequentially consistent: a task takes milliseconds, so an ordering saves nothing.
  std::atomic<size_t> next{0};
  // However few threads there are, each takes tasks until there are none.
  const auto loop = [&] {
    for (size_t number = next++; number < count; number = next++) {
      try {
        task(number);
      } catch (...) {
        next = count;
        throw;
      }
    }
  };
  const size_t threads = std::min(jobs, count);
  if (threads <= 1) return loop();
  RunOnThreads(threads, loop);
}

}  // namespace schedq
