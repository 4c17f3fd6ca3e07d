// The faults that are under way in a cluster: refused calls, informers that lag, slow controllers.
//
// Threads: one, the one that advances the clock.
// Invariant: what comes by chance is drawn from a stream of its own, and nothing is drawn while no
// fault is under way; so a run without faults is what it would be without this class.
// Memory: the faults that have begun, and a date for each kind of object.
#pragma once

#include <array>
#include <vector>

#include "bench/format/workload/fault.h"
#include "engine/base/random.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"

namespace schedq {

class Faults {
 public:
  Faults(Clock* clock, const Random& random) : clock_(*clock), random_(random) {}

  // The fault begins after its `after`, and ends by itself.
  void Begin(const Fault& fault);

  // Whether the API server answers this call of the scheduler with an error.
  bool Refuses(CallKind call);
  // Whether a call was refused at any time, so that what it would have changed may be missing.
  bool HasRefused() const { return has_refused_; }

  // When a change of this kind reaches its watchers that would be there at `due`. Later changes of
  // the kind come no earlier.
  Instant DeliveryOf(Resource kind, Instant due);
  // What the changes of any kind have lagged at most.
  Duration longest_lag() const { return longest_lag_; }

  // By how much a call of a controller takes longer.
  Duration ControllerDelay();

 private:
  struct UnderWay {
    Fault fault;
    Instant end;
  };

  void DropEnded();

  Clock& clock_;
  Random random_;
  std::vector<UnderWay> under_way_;  // In the order of their begin.
  std::array<Instant, kResourceCount> last_delivery_{};
  Duration longest_lag_{};
  bool has_refused_ = false;
};

inline constexpr const char* kApiServerError = "the API server is out (503)";

}  // namespace schedq
