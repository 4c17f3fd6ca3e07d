// Waiting API calls in the dispatcher's queue, upstream's design, an ordered map and folly's wheel.
//
//        warm: every object had a call before; then 1k, 100k or 1M delayed patches wait
//                    |
//                    v
//   T1 ------> +-----------+
//   T2 ------> |   calls   |      each thread works through its own share of objects, in random
//   ..         |           |      order: add, overwrite, cancel or sync, one call an operation
//   Tn ------> +-----------+
//                    |
//                    v
//        drained: all waiting calls start, and are counted
//
// Time: wall time of the operations / operations of all threads. It includes making the call, but
// neither warming nor filling; `drain` times only the drain.
// Answer: the number of calls that start at the end (bench/lab/paths/call_path.h).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/anchors.h"
#include "bench/interrupt.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/rivals/folly_calls.h"
#include "bench/lab/micro/suites.h"
#include "bench/lab/paths/call_contestants.h"
#include "bench/lab/paths/call_path.h"
#include "bench/lab/paths/measured_path.h"
#include "bench/lab/paths/thread_team.h"
#include "perf/documents/bench_document.h"

namespace schedq {
namespace {

struct Workload {
  CallWorkload calls;
  int threads = 1;
};

constexpr int64_t kOperationsMax = 100'000;
// A cancellation that scans takes time in proportion to the waiting calls, so it has fewer
// operations.
constexpr int64_t kScannedMax = 20'000'000;

std::optional<double> Anchor(const Workload& workload) {
  const nlohmann::json& table = Anchors().at("upstream_queue").at("dispatcher");
  const auto row = table.find(CallOperationName(workload.calls.operation));
  if (row == table.end() || workload.threads != 1) return std::nullopt;
  const auto cell = row->find(std::to_string(workload.calls.waiting));
  if (cell == row->end()) return std::nullopt;
  return cell->get<double>();
}

template <typename Calls>
void Measure(benchmark::State& state, const Workload& workload) {
  if (Interrupted()) return state.SkipWithError("interrupted");
  const auto path = std::make_unique<CallPath<Calls>>(workload.calls);
  const double seconds =
      RunTeam(workload.threads, [&](int thread) { path->RunShare(thread, workload.threads); });
  const PathOutcome outcome = path->Outcome();
  if (outcome.fault != nullptr) return state.SkipWithError(outcome.fault);
  const double share =
      static_cast<double>(state.max_iterations) / static_cast<double>(workload.calls.operations);
  while (state.KeepRunningBatch(state.max_iterations)) state.SetIterationTime(seconds * share);
}

template <typename Calls>
void AddContestant(BenchmarkList& list, Workload workload, ContenderRole role) {
  CallWorkload& calls = workload.calls;
  if (Calls::kCancelScans && calls.operation == CallOperation::kCancel) {
    calls.operations =
        std::clamp<int64_t>(kScannedMax / calls.waiting, workload.threads, calls.operations);
  }
  BenchmarkCase one;
  one.group = std::string("dispatcher/calls/") + CallOperationName(calls.operation) + "/" +
              std::to_string(calls.waiting) + "_waiting/" + std::to_string(workload.threads) +
              "_threads";
  one.topology = "threads -> waiting calls -> drained";
  one.contestant = Calls::kName;
  one.parameters = {{"waiting", static_cast<uint64_t>(calls.waiting)},
                    {"threads", static_cast<uint64_t>(workload.threads)}};
  one.role = role;
  one.operations = calls.operations;
  if (Calls::kCancelScans) one.anchor_ns = Anchor(workload);
  one.body = [workload](benchmark::State& state) { Measure<Calls>(state, workload); };
  list.Add(std::move(one));
}

}  // namespace

void AddCallBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const bool is_tiny = size == BenchmarkSize::kTiny;
  const std::vector<int64_t> sizes =
      is_tiny ? std::vector<int64_t>{1000} : std::vector<int64_t>{1000, 100'000, 1'000'000};
  for (const CallOperation operation : kCallOperations) {
    for (const int64_t waiting : sizes) {
      for (const int threads : {1, 2, 8}) {
        const bool is_drain = operation == CallOperation::kDrain;
        // Only one thread at a time may dispatch, so a drain is measured on one.
        if (is_drain && threads != 1) continue;
        const Workload workload{
            {operation, waiting, is_drain ? waiting : std::min(waiting, kOperationsMax)}, threads};
        AddContestant<ProductCalls>(list, workload, ContenderRole::kProduct);
        AddContestant<LockedFifoCalls>(list, workload, ContenderRole::kRival);
        AddContestant<LockedMultimapCalls>(list, workload, ContenderRole::kRival);
        AddContestant<LockedFollyWheelCalls>(list, workload, ContenderRole::kRival);
      }
    }
  }
}

}  // namespace schedq
