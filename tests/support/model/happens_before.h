// The order of operations under the model, for Recorder of tests/support/history.h.
//
// Purpose: an operation precedes another when its response happens before the other's invocation.
// Two operations without that order may be linearized either way, even if one ran first: a thread
// that cannot know of the first may read old values, on real processors too.
// When not to use it: with real threads.
// Allowed threads: those of the run.
#pragma once

#include <cstdint>

#include "tests/support/model/runtime.h"

namespace schedq::model {

class HappensBefore {
 public:
  struct Moment {
    uint64_t sequence = 0;  // The place in the order of execution, for printing and for prefixes.
    uint32_t thread = 0;
    uint32_t epoch = 0;
    Clock knows;
  };

  Moment Now(uint32_t) {
    Moment moment;
    moment.sequence = ++sequence_;
    if (Runtime* run = Runtime::Current()) {
      moment.knows = run->Mark();
      moment.thread = run->thread();
      moment.epoch = moment.knows.at[moment.thread];
    }
    return moment;
  }
  static bool Precedes(const Moment& response, const Moment& invocation) {
    return response.epoch <= invocation.knows.at[response.thread];
  }

 private:
  uint64_t sequence_ = 0;
};

// The order of execution, which is stricter. It is for code that promises real-time order by
// sequentially consistent operations. Each moment is such an operation, which every thread can see
// and by which none learns anything: so what the code does with weaker orderings stays unordered.
class ExecutionOrder {
 public:
  struct Moment {
    uint64_t sequence = 0;
  };
  Moment Now(uint32_t) {
    if (Runtime* run = Runtime::Current()) run->Moment();
    return {++sequence_};
  }
  static bool Precedes(const Moment& response, const Moment& invocation) {
    return response.sequence < invocation.sequence;
  }

 private:
  uint64_t sequence_ = 0;
};

}  // namespace schedq::model
