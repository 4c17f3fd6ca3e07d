#include "bench/sim/run/client.h"

#include <algorithm>
#include <utility>

namespace schedq {

void Client::Do(const CallLatency& latency, Call act) {
  ++calls_;
  const Instant slot = std::max(clock_->Now(), next_slot_);
  next_slot_ = slot + interval_;
  // What waits for its slot begins later, but has its place among the calls already.
  const Duration wait = cluster_.processors().BeginCall();
  clock_->At(slot + wait + latency.Draw(&random_), std::move(act));
}

void Client::DoAll(int64_t count, int workers, const CallLatency& latency,
                   std::function<void(int64_t)> act, Call done) {
  DoAllInSteps(
      count, workers, {latency}, [act = std::move(act)](int64_t index, size_t) { act(index); },
      std::move(done));
}

void Client::DoAllInSteps(int64_t count, int workers, std::vector<CallLatency> latencies,
                          ActStep act, Call done) {
  if (count == 0) return done();
  auto batch = std::make_shared<Batch>();
  batch->count = count;
  batch->latencies = std::move(latencies);
  batch->act = std::move(act);
  batch->done = std::move(done);
  for (int i = 0; i < workers; ++i) Work(batch);
}

void Client::Work(const std::shared_ptr<Batch>& batch) {
  if (batch->next != batch->count) TakeStep(batch, batch->next++, 0);
}

void Client::TakeStep(const std::shared_ptr<Batch>& batch, int64_t index, size_t step) {
  Do(batch->latencies[step], [this, batch, index, step] {
    batch->act(index, step);
    if (step + 1 < batch->latencies.size()) return TakeStep(batch, index, step + 1);
    if (++batch->finished == batch->count) return batch->done();
    Work(batch);
  });
}

}  // namespace schedq
