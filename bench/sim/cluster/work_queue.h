// Work items of a controller: a fixed number of workers takes them in the order in which they came.
//
// Each call of an item to the API server takes its latency; the calls of one item follow one
// another. A planned item says which calls it makes when a worker takes it.
// Threads: one, the one that advances the clock.
// Memory: one record a waiting item.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"

namespace schedq {

class WorkQueue {
 public:
  // Makes one API call. False: there was nothing to do.
  using Call = std::function<bool()>;
  // None: there is nothing to do.
  using Plan = std::function<std::deque<Call>()>;

  // `clock` outlives it. `call_latency` draws the latency of the next call.
  WorkQueue(Clock* clock, int workers, std::function<Duration()> call_latency)
      : clock_(*clock), call_latency_(std::move(call_latency)), idle_workers_(workers) {}

  void Add(std::deque<Call> calls);
  void AddPlanned(Plan plan);

 private:
  // It has a plan, or else its calls.
  struct Item {
    std::deque<Call> calls;
    Plan plan;
  };

  void StartWorkers();
  void AddItem(Item item);
  void RunCalls(std::deque<Call> calls);

  Clock& clock_;
  const std::function<Duration()> call_latency_;
  std::deque<Item> waiting_;
  int idle_workers_;
};

}  // namespace schedq
