#include "hints/parallel_ranges.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <thread>

#include "engine/base/sanitizers.h"

namespace schedq {
namespace {

using Body = std::function<void(size_t begin, size_t end)>;

void RunOnPlainThreads(size_t size, size_t grain, const Body& body) {
  const size_t middle = size / 2;
  if (middle < grain) return body(0, size);
  std::thread helper([&] { body(middle, size); });
  body(0, middle);
  helper.join();
}

void RunOnTbb(size_t size, size_t grain, const Body& body) {
  // TBB halves a range that is larger than the grain that it is given: with 2 x grain, no part is
  // smaller than `grain`.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, size, 2 * grain),
                      [&](const auto& range) { body(range.begin(), range.end()); });
  });
}

}  // namespace

void ForEachRange(size_t size, size_t grain, const Body& body) {
  const auto run = kUnderThreadSanitizer ? RunOnPlainThreads : RunOnTbb;
  run(size, grain, body);
}

}  // namespace schedq
