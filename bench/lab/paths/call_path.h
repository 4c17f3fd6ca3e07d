// Operations on waiting API calls, with N of them waiting.
//
// Purpose: one workload for benchmarks and profiles.
// Preparation: every object had a call before. Then `waiting` delayed patches are added in random
// order, and wait.
// Run: each thread handles its own share of objects in random order, one call an operation; a drain
// starts all waiting calls. An operation includes making the call, and Prefetch before it, as in
// the product. Metrics are on.
// Answer: the number of calls that start at the end.
// Threads: as of MeasuredPath.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/lab/paths/measured_path.h"
#include "dispatcher/api_call.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/pod.h"

namespace schedq {

enum class CallOperation : uint8_t { kAdd, kOverwrite, kCancel, kSync, kDrain };
inline constexpr CallOperation kCallOperations[] = {CallOperation::kAdd, CallOperation::kOverwrite,
                                                    CallOperation::kCancel, CallOperation::kSync,
                                                    CallOperation::kDrain};
inline constexpr const char* kCallOperationNames[] = {"add", "overwrite", "cancel", "sync",
                                                      "drain"};
inline const char* CallOperationName(CallOperation operation) {
  return kCallOperationNames[static_cast<size_t>(operation)];
}

struct CallWorkload {
  CallOperation operation = CallOperation::kAdd;
  int64_t waiting = 0;
  int64_t operations = 0;  // At most `waiting`, except for kAdd.
};

template <typename Calls>
class CallPath final : public MeasuredPath {
 public:
  explicit CallPath(const CallWorkload& workload) : workload_(workload) {
    const int64_t all = workload.waiting + workload.operations;
    calls_.Reserve(all);
    Fill(all);
    is_warm_ = calls_.Drain() == all;
    Fill(workload.waiting);
    ChooseTargets();
  }

  void Run() override { RunShare(0, 1); }
  // Handles the share of one thread of several.
  void RunShare(int thread, int threads) {
    if (workload_.operation == CallOperation::kDrain) {
      started_ = calls_.Drain();
      return;
    }
    const size_t share = targets_.size() / static_cast<size_t>(threads);
    const size_t first = share * static_cast<size_t>(thread);
    const size_t last = thread + 1 == threads ? targets_.size() : first + share;
    for (size_t i = first; i < last; ++i) Operate(targets_[i]);
  }

  PathOutcome Outcome() override {
    PathOutcome outcome{.operations = static_cast<uint64_t>(workload_.operations)};
    const int64_t started = started_ + calls_.Drain();
    if (!is_warm_) outcome.fault = "a call was lost or doubled while warming";
    if (started != ExpectedStarts()) outcome.fault = "a call was lost or doubled";
    return outcome;
  }

 private:
  static constexpr Duration kDelay = std::chrono::seconds(5);

  static PodRef MakePod() {
    auto pod = std::make_shared<Pod>();
    pod->uid = "pod";
    return pod;
  }
  void Add(ObjectId object, const char* message) {
    calls_.Prefetch(object);
    ApiCall call;
    call.object = object;
    call.delay = kDelay;
    call.pod = pod_;
    call.condition.kind = ConditionPatch::Kind::kSet;
    call.condition.reason = kNotReadyReason;
    call.condition.message = message;
    calls_.Add(std::move(call));
  }
  void Operate(ObjectId object) {
    switch (workload_.operation) {
      case CallOperation::kAdd:
        return Add(object, "waiting for a");
      case CallOperation::kOverwrite:
        return Add(object, "waiting for b");
      case CallOperation::kCancel:
        return calls_.Cancel(object);
      case CallOperation::kSync:
        return calls_.Sync(object, newer_pod_);
      case CallOperation::kDrain:
        return;
    }
  }
  static std::vector<ObjectId> Shuffled(int64_t first, int64_t count, uint64_t seed) {
    std::vector<ObjectId> objects(static_cast<size_t>(count));
    std::iota(objects.begin(), objects.end(), static_cast<ObjectId>(first));
    Random(seed).Shuffle(objects);
    return objects;
  }
  void Fill(int64_t count) {
    for (const ObjectId object : Shuffled(0, count, 7)) Add(object, "waiting for a");
  }
  // Chooses new objects for kAdd, else some of the objects with a waiting call.
  void ChooseTargets() {
    const bool adds = workload_.operation == CallOperation::kAdd;
    targets_ = adds ? Shuffled(workload_.waiting, workload_.operations, 11)
                    : Shuffled(0, workload_.waiting, 11);
    targets_.resize(static_cast<size_t>(workload_.operations));
  }
  int64_t ExpectedStarts() const {
    if (workload_.operation == CallOperation::kAdd) {
      return workload_.waiting + workload_.operations;
    }
    if (workload_.operation == CallOperation::kCancel) {
      return workload_.waiting - workload_.operations;
    }
    return workload_.waiting;
  }

  const CallWorkload workload_;
  const PodRef pod_ = MakePod();
  const PodRef newer_pod_ = MakePod();  // Makes no waiting call a no-op.
  Calls calls_;
  bool is_warm_ = false;
  int64_t started_ = 0;
  std::vector<ObjectId> targets_;
};

}  // namespace schedq
