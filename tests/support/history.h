// Records who called what, when, and what came back, for the linearizability checker.
//
// Purpose: Recorder<Spec> collects the history of one run. With RealTime (the default) it serves
// real threads: an operation precedes another when it responded before the other was invoked. With
// model::HappensBefore it serves the model: it precedes when its response happens before the
// other's invocation, because without that no program can tell. When not to use it: to measure;
// taking the time orders the threads. Allowed threads: Call() from the thread of that number;
// History() after all have been joined. Memory bound: every operation is kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace schedq {

// One operation. Without a result it is pending: it may have taken effect or not.
template <typename Spec, typename Ordering>
struct Call {
  uint32_t thread;
  typename Spec::Operation operation;
  std::optional<typename Spec::Result> result;
  typename Ordering::Moment invoked;
  typename Ordering::Moment responded;
};

// Moments are ticks of one counter.
class RealTime {
 public:
  struct Moment {
    uint64_t sequence = 0;
  };
  Moment Now(uint32_t) { return {sequence_.fetch_add(1) + 1}; }
  static bool Precedes(const Moment& response, const Moment& invocation) {
    return response.sequence < invocation.sequence;
  }

 private:
  std::atomic<uint64_t> sequence_{0};  // written by all
};

template <typename Spec, typename Ordering = RealTime>
class Recorder {
 public:
  using Operation = typename Spec::Operation;
  using Result = typename Spec::Result;
  using Entry = Call<Spec, Ordering>;

  explicit Recorder(uint32_t threads) : calls_(threads) {}

  // Runs `call`, which carries out `operation` and returns its result, as the thread's next one.
  template <typename Function>
  Result Record(uint32_t thread, Operation operation, Function call) {
    Entry entry{thread, std::move(operation), std::nullopt, ordering_.Now(thread), {}};
    calls_[thread].push_back(std::move(entry));
    Result result = call();
    Entry& recorded = calls_[thread].back();
    recorded.responded = ordering_.Now(thread);
    recorded.result = result;
    return result;
  }

  std::vector<Entry> History() const {
    std::vector<Entry> history;
    for (const auto& calls : calls_) history.insert(history.end(), calls.begin(), calls.end());
    return history;
  }

 private:
  Ordering ordering_;
  std::vector<std::vector<Entry>> calls_;
};

}  // namespace schedq
