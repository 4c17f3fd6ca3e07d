#include "bench/sim/cluster/work_queue.h"

namespace schedq {

void WorkQueue::Add(std::deque<Call> calls) {
  waiting_.push_back(std::move(calls));
  StartWorkers();
}

void WorkQueue::StartWorkers() {
  while (idle_workers_ > 0 && !waiting_.empty()) {
    --idle_workers_;
    std::deque<Call> calls = std::move(waiting_.front());
    waiting_.pop_front();
    RunItem(std::move(calls));
  }
}

// Each call takes effect after its latency.
void WorkQueue::RunItem(std::deque<Call> calls) {
  if (calls.empty()) {
    ++idle_workers_;
    StartWorkers();
    return;
  }
  clock_.At(clock_.Now() + call_latency_(), [this, calls = std::move(calls)]() mutable {
    calls.front()();
    calls.pop_front();
    RunItem(std::move(calls));
  });
}

}  // namespace schedq
