#include "bench/sim/cluster/work_queue.h"

namespace schedq {

void WorkQueue::Add(std::deque<Call> calls) { AddItem({std::move(calls), nullptr}); }

void WorkQueue::AddPlanned(Plan plan) { AddItem({{}, std::move(plan)}); }

void WorkQueue::AddItem(Item item) {
  waiting_.push_back(std::move(item));
  StartWorkers();
}

void WorkQueue::StartWorkers() {
  while (idle_workers_ > 0 && !waiting_.empty()) {
    --idle_workers_;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    if (item.plan != nullptr) item.calls = item.plan();
    if (item.calls.empty()) {
      ++idle_workers_;
    } else {
      RunCalls(std::move(item.calls));
    }
  }
}

// Each call takes effect after its latency.
void WorkQueue::RunCalls(std::deque<Call> calls) {
  if (calls.empty()) {
    ++idle_workers_;
    StartWorkers();
    return;
  }
  clock_.At(clock_.Now() + call_latency_(), [this, calls = std::move(calls)]() mutable {
    calls.front()();
    calls.pop_front();
    RunCalls(std::move(calls));
  });
}

}  // namespace schedq
