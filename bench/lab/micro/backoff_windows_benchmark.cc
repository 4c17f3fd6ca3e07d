// Insertion into backoff: the ring of windows against a locked heap.
//
//   one thread: push N entries, whose seconds spread over ten windows and rise with time, with
//   eight priorities                                                               time / N
//
// Answer: all entries come out by window, and within a window higher priorities first. Emptying is
// not timed.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/path_case.h"
#include "bench/lab/micro/suites.h"
#include "engine/base/random.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/backoff/backoff_windows.h"
#include "perf/documents/bench_document.h"

namespace schedq {
namespace {

constexpr int64_t kFirstSecond = 1'800'000'000;
constexpr int64_t kSeconds = 10;

struct BackoffKey {
  int64_t second = 0;
  int32_t priority = 0;
  int64_t timestamp_ns = 0;
  uint64_t pod = 0;

  // A key that is popped later is less, as std::priority_queue requires.
  bool operator<(const BackoffKey& other) const {
    return std::make_tuple(-second, priority, -timestamp_ns) <
           std::make_tuple(-other.second, other.priority, -other.timestamp_ns);
  }
};

class RingContestant {
 public:
  static constexpr const char* kName = "schedq::BackoffWindows";
  static constexpr ContenderRole kRole = ContenderRole::kProduct;

  void Push(const BackoffKey& key) {
    windows_->Push(key.second, {key.priority, key.timestamp_ns, key.pod});
  }
  // A flush does not return the second of an entry, but the second lies before the flush's cutoff.
  template <typename Visit>
  void Empty(Visit visit) {
    for (int64_t second = kFirstSecond; second < kFirstSecond + kSeconds; ++second) {
      const auto visit_run = [&](std::span<ActiveEntry> run) {
        for (const auto& [priority, timestamp_ns, pod] : run) {
          visit({second, priority, timestamp_ns, pod});
        }
      };
      // No entry is so late that the ring kept only its ticket; such a one would be out of order.
      windows_->Flush(second + 1, visit_run, [&](uint64_t pod) { visit({second, 0, 0, pod}); });
    }
  }

 private:
  std::unique_ptr<BackoffWindows<std::atomic>> windows_ =
      std::make_unique<BackoffWindows<std::atomic>>();
};

class HeapContestant {
 public:
  static constexpr const char* kName = "mutex+std::priority_queue";
  static constexpr ContenderRole kRole = ContenderRole::kRival;

  void Push(const BackoffKey& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    heap_.push(key);
  }
  template <typename Visit>
  void Empty(Visit visit) {
    for (; !heap_.empty(); heap_.pop()) visit(heap_.top());
  }

 private:
  std::mutex mutex_;
  std::priority_queue<BackoffKey> heap_;
};

std::vector<BackoffKey> MakeKeys(int64_t count) {
  Random random(1);
  std::vector<BackoffKey> keys;
  for (int64_t i = 0; i < count; ++i) {
    keys.push_back({kFirstSecond + i * kSeconds / count, static_cast<int32_t>(random.Below(8)), i,
                    static_cast<uint64_t>(i)});
  }
  return keys;
}

template <typename Contestant>
void MeasureInsert(benchmark::State& state, int64_t entries) {
  if (Interrupted()) return state.SkipWithError("interrupted");
  const std::vector<BackoffKey> keys = MakeKeys(entries);
  Contestant contestant;
  const auto started = std::chrono::steady_clock::now();
  for (const BackoffKey& key : keys) contestant.Push(key);
  const std::chrono::duration<double, std::nano> elapsed =
      std::chrono::steady_clock::now() - started;
  int64_t taken = 0;
  bool is_in_order = true;
  BackoffKey previous;
  contestant.Empty([&](const BackoffKey& key) {
    is_in_order = is_in_order && (taken == 0 || key < previous);
    previous = key;
    ++taken;
  });
  if (taken != entries) return state.SkipWithError("wrong answer: entries were lost or doubled");
  if (!is_in_order) return state.SkipWithError("wrong answer: entries came out of order");
  ReportValue(state, elapsed.count() / static_cast<double>(entries));
}

template <typename Contestant>
void AddInsert(BenchmarkList& list, int64_t entries) {
  BenchmarkCase one;
  one.group = "engine/backoff_windows/insert/" + std::to_string(entries) + "_entries";
  one.topology = "push over ten windows -> emptied";
  one.contestant = Contestant::kName;
  one.role = Contestant::kRole;
  one.parameters = {{"entries", static_cast<uint64_t>(entries)}};
  one.operations = entries;
  one.body = [=](benchmark::State& state) { MeasureInsert<Contestant>(state, entries); };
  list.Add(std::move(one));
}

}  // namespace

void AddBackoffWindowBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const int64_t entries = size == BenchmarkSize::kTiny ? 1000 : 100'000;
  AddInsert<RingContestant>(list, entries);
  AddInsert<HeapContestant>(list, entries);
}

}  // namespace schedq
