// Calls of the dispatcher that wait: one is added, overwritten and cancelled.
//
//   T1 .. Tn --add, overwrite, cancel--> [ 4,096 objects ]
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/lab/scale/atom.h"
#include "bench/lab/scale/scale_path.h"
#include "dispatcher/api_call.h"
#include "dispatcher/call_queue.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/pod.h"

namespace schedq::scale {
namespace {

constexpr uint64_t kObjects = 4096;

template <template <typename> class Atom>
class CallsPath : public EvenPath {
 public:
  explicit CallsPath(const PathSize& size) : EvenPath(size) {
    const Random random(size.seed);
    for (uint32_t thread = 0; thread < size.threads; ++thread) {
      threads_.push_back({random.Fork(thread), std::make_shared<const Pod>()});
    }
    for (uint64_t object = 0; object < kObjects; ++object) Handle(0, static_cast<ObjectId>(object));
  }

  void Operate(uint32_t thread) {
    Handle(thread, static_cast<ObjectId>(threads_[thread].random.Below(kObjects)));
  }

 private:
  struct alignas(2 * CacheLines::kLineBytes) Thread {
    Random random;
    PodRef pod;  // Of its own: the count of references is no part of the queue.
  };

  void Handle(uint32_t thread, ObjectId object) {
    queue_.Prefetch(object);
    queue_.Add(Call(thread, object, "waiting for a"));
    queue_.Add(Call(thread, object, "waiting for b"));
    queue_.Cancel(object);
  }
  ApiCall Call(uint32_t thread, ObjectId object, const char* message) const {
    ApiCall call;
    call.object = object;
    call.delay = std::chrono::seconds(5);
    call.pod = threads_[thread].pod;
    call.condition.kind = ConditionPatch::Kind::kSet;
    call.condition.reason = kNotReadyReason;
    call.condition.message = message;
    return call;
  }

  VirtualClock clock_{Instant(std::chrono::seconds(1))};
  MetricsRegistry metrics_;
  CallQueue<Atom> queue_{
      CallQueueOptions{.clock = &clock_, .metrics = &metrics_, .calls_per_second = 0}};
  std::vector<Thread> threads_;
};

}  // namespace

void AddCallsPath(std::vector<ScaleContestant>* contestants) {
  contestants->push_back({.path = "calls",
                          .name = "schedq",
                          .role = ContenderRole::kProduct,
                          .operation = "a call that is added, overwritten and cancelled",
                          .count = CountPath<CallsPath<Atomic>>,
                          .measure = MeasurePath<CallsPath<std::atomic>>});
}

}  // namespace schedq::scale
