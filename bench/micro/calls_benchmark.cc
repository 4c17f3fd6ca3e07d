// Waiting API calls, beside upstream's design and an ordered map.
//
//        warm: all objects were called about before; then 1k, 100k or 1M delayed patches wait
//                    |
//                    v
//   T1 ------> +-----------+
//   T2 ------> |   calls   |      each thread works through its own share of objects, in random
//   ..         |           |      order: add, overwrite, cancel or sync, one call an operation
//   Tn ------> +-----------+
//                    |
//                    v
//        drained: all that waits starts, and is counted
//
// Time: wall time of the operations / operations of all threads. Making the call is in it, warming
// and filling are not; in `drain` the drain alone is timed.
// Answer: how many calls start in the end.
#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "bench/anchors.h"
#include "bench/interrupt.h"
#include "bench/micro/call_contestants.h"
#include "bench/micro/suites.h"
#include "bench/micro/thread_team.h"
#include "engine/base/random.h"

namespace schedq {
namespace {

enum class Operation : uint8_t { kAdd, kOverwrite, kCancel, kSync, kDrain };
constexpr const char* kOperationNames[] = {"add", "overwrite", "cancel", "sync", "drain"};

struct Workload {
  Operation operation = Operation::kAdd;
  int64_t waiting = 0;
  int threads = 1;
  int64_t operations = 0;
};

constexpr Duration kDelay = std::chrono::seconds(5);
constexpr int64_t kOperationsMax = 100'000;
// A cancellation that scans costs time in proportion to what waits.
constexpr int64_t kScannedMax = 20'000'000;

class Objects {
 public:
  Objects() : first_(MakePod("first")), second_(MakePod("second")) {}

  CallHolder Patch(ObjectId object, const char* message) const {
    auto call = std::make_unique<ApiCall>();
    call->object = object;
    call->delay = kDelay;
    call->pod = first_;
    call->condition = {ConditionPatch::Kind::kSet, kNotReadyReason, message};
    return call;
  }
  // A newer version, which changes nothing for the calls.
  const PodRef& newer() const { return second_; }

 private:
  static PodRef MakePod(const char* uid) {
    auto pod = std::make_shared<Pod>();
    pod->uid = uid;
    return pod;
  }
  PodRef first_;
  PodRef second_;
};

template <typename Calls>
void Operate(Calls& calls, const Objects& objects, Operation operation, ObjectId object) {
  switch (operation) {
    case Operation::kAdd:
      return calls.Add(objects.Patch(object, "waiting for a"));
    case Operation::kOverwrite:
      return calls.Add(objects.Patch(object, "waiting for b"));
    case Operation::kCancel:
      return calls.Cancel(object);
    case Operation::kSync:
      return calls.Sync(object, objects.newer());
    case Operation::kDrain:
      return;
  }
}

// The objects that the operations are about: new ones for add, else some of those that wait.
std::vector<ObjectId> Targets(const Workload& workload) {
  const bool is_add = workload.operation == Operation::kAdd;
  std::vector<ObjectId> targets(
      static_cast<size_t>(is_add ? workload.operations : workload.waiting));
  std::iota(targets.begin(), targets.end(), is_add ? static_cast<ObjectId>(workload.waiting) : 0);
  Random(11).Shuffle(targets);
  targets.resize(static_cast<size_t>(workload.operations));
  return targets;
}

template <typename Calls>
void Fill(Calls& calls, const Objects& objects, int64_t count) {
  std::vector<ObjectId> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random(7).Shuffle(order);
  for (const ObjectId object : order) Operate(calls, objects, Operation::kAdd, object);
}

int64_t ExpectedStarts(const Workload& workload) {
  if (workload.operation == Operation::kAdd) return workload.waiting + workload.operations;
  if (workload.operation == Operation::kCancel) return workload.waiting - workload.operations;
  return workload.waiting;
}

template <typename Calls>
double Run(const Workload& workload, const char** fault) {
  const Objects objects;
  const auto calls = std::make_unique<Calls>();
  const int64_t all = workload.waiting + workload.operations;
  calls->Reserve(all);
  Fill(*calls, objects, all);
  if (calls->Drain() != all) *fault = "a call was lost or doubled while warming";
  Fill(*calls, objects, workload.waiting);
  if (workload.operation == Operation::kDrain) {
    const auto started_at = std::chrono::steady_clock::now();
    if (calls->Drain() != workload.waiting) *fault = "a call was lost or doubled";
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_at).count();
  }
  const std::vector<ObjectId> targets = Targets(workload);
  const size_t share = targets.size() / static_cast<size_t>(workload.threads);
  const double seconds = RunTeam(workload.threads, [&](int thread) {
    const size_t first = share * static_cast<size_t>(thread);
    const size_t last = thread + 1 == workload.threads ? targets.size() : first + share;
    for (size_t i = first; i < last; ++i) {
      Operate(*calls, objects, workload.operation, targets[i]);
    }
  });
  if (calls->Drain() != ExpectedStarts(workload)) *fault = "a call was lost or doubled";
  return seconds;
}

std::optional<double> Anchor(const Workload& workload) {
  const nlohmann::json& table = Anchors().at("upstream_queue").at("dispatcher");
  const auto row = table.find(kOperationNames[static_cast<int>(workload.operation)]);
  if (row == table.end() || workload.threads != 1) return std::nullopt;
  const auto cell = row->find(std::to_string(workload.waiting));
  if (cell == row->end()) return std::nullopt;
  return cell->get<double>();
}

template <typename Calls>
void AddContestant(BenchmarkList& list, Workload workload, ContenderRole role) {
  if (Calls::kCancelScans && workload.operation == Operation::kCancel) {
    workload.operations =
        std::clamp<int64_t>(kScannedMax / workload.waiting, workload.threads, workload.operations);
  }
  BenchmarkCase one;
  one.group = std::string("dispatcher/calls/") +
              kOperationNames[static_cast<int>(workload.operation)] + "/" +
              std::to_string(workload.waiting) + "_waiting/" + std::to_string(workload.threads) +
              "_threads";
  one.topology = "threads -> waiting calls -> drained";
  one.contestant = Calls::kName;
  one.parameters = {{"waiting", static_cast<uint64_t>(workload.waiting)},
                    {"threads", static_cast<uint64_t>(workload.threads)}};
  one.role = role;
  one.operations = workload.operations;
  if (Calls::kCancelScans) one.anchor_ns = Anchor(workload);
  one.body = [workload](benchmark::State& state) {
    if (Interrupted()) return state.SkipWithError("interrupted");
    const char* fault = nullptr;
    const double seconds = Run<Calls>(workload, &fault);
    if (fault != nullptr) return state.SkipWithError(fault);
    const double share =
        static_cast<double>(state.max_iterations) / static_cast<double>(workload.operations);
    while (state.KeepRunningBatch(state.max_iterations)) state.SetIterationTime(seconds * share);
  };
  list.Add(std::move(one));
}

}  // namespace

void AddCallBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const bool is_tiny = size == BenchmarkSize::kTiny;
  const std::vector<int64_t> sizes =
      is_tiny ? std::vector<int64_t>{1000} : std::vector<int64_t>{1000, 100'000, 1'000'000};
  for (const Operation operation : {Operation::kAdd, Operation::kOverwrite, Operation::kCancel,
                                    Operation::kSync, Operation::kDrain}) {
    for (const int64_t waiting : sizes) {
      for (const int threads : {1, 2, 8}) {
        const bool is_drain = operation == Operation::kDrain;
        // One thread at a time dispatches, so a drain has no more threads to measure.
        if (is_drain && threads != 1) continue;
        const Workload workload{operation, waiting, threads,
                                is_drain ? waiting : std::min(waiting, kOperationsMax)};
        AddContestant<ProductCalls>(list, workload, ContenderRole::kProduct);
        AddContestant<LockedFifoCalls>(list, workload, ContenderRole::kRival);
        AddContestant<LockedMultimapCalls>(list, workload, ContenderRole::kRival);
      }
    }
  }
}

}  // namespace schedq
