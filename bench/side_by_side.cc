#include "bench/side_by_side.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/thread_sanitizer.h"

namespace schedq {
namespace {

using Loop = std::function<void()>;

void RunOnTbb(size_t threads, const Loop& loop) {
  // More jobs than processors are granted too.
  const size_t allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                    std::max(allowed, threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([&] {
    tbb::parallel_for(
        size_t{0}, threads, [&](size_t) { loop(); }, tbb::simple_partitioner());
  });
}

void RunOnPlainThreads(size_t threads, const Loop& loop) {
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
  for (size_t i = 1; i < threads; ++i) helpers.emplace_back(guarded);
  guarded();
  for (std::thread& helper : helpers) helper.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace

void DoSideBySide(size_t count, size_t jobs, const std::function<void(size_t)>& task) {
  // Sequentially consistent: a task takes milliseconds, so an ordering saves nothing.
  std::atomic<size_t> next{0};
  // However few threads there are, each takes tasks until there are none.
  const Loop loop = [&] {
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
  kUnderThreadSanitizer ? RunOnPlainThreads(threads, loop) : RunOnTbb(threads, loop);
}

}  // namespace schedq
