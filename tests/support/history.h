// Records each thread's operations with their order and results, for the linearizability checker.
//
// Purpose: Recorder<Spec> collects the history of one run. RealTime (the default) is for real
// threads: an operation precedes another when it responded before the other was invoked.
// model::HappensBefore is for the model: an operation precedes another when its response happens
// before the other's invocation, because no program can observe any other order.
// When not to use it: to measure; taking the time orders the threads.
// Allowed threads: the thread of that number calls Record(); History() follows after all were
// joined.
// Memory bound: every operation is kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace schedq {

// One operation. An operation without a result is pending: it may or may not have taken effect.
template <typename Spec, typename Ordering>
struct Call {
  uint32_t thread;
  typename Spec::Operation operation;
  std::optional<typename Spec::Result> result;
  typename Ordering::Moment invoked;
  typename Ordering::Moment responded;
};

// The order of real time; moments are ticks of one counter.
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

  // Records `operation` as the thread's next one. Runs `call`, which carries it out and returns its
  // result.
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

  // Records an operation of two steps that others may see apart: `first`, which returns
  // `first_result`, and `second`, which returns what `call` returns.
  template <typename Function>
  Result RecordTwo(uint32_t thread, Operation first, Result first_result, Operation second,
                   Function call) {
    std::vector<Entry>& calls = calls_[thread];
    const size_t at = calls.size();
    calls.push_back({thread, std::move(first), std::nullopt, ordering_.Now(thread), {}});
    calls.push_back({thread, std::move(second), std::nullopt, ordering_.Now(thread), {}});
    Result result = call();
    calls[at].responded = ordering_.Now(thread);
    calls[at].result = std::move(first_result);
    calls[at + 1].responded = ordering_.Now(thread);
    calls[at + 1].result = result;
    return result;
  }

  // Adds another operation with the moments of the thread's last one, which has responded: a second
  // effect that the call may have.
  void RecordAlso(uint32_t thread, Operation operation, Result result) {
    Entry also = calls_[thread].back();
    also.operation = std::move(operation);
    also.result = std::move(result);
    calls_[thread].push_back(std::move(also));
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
