// How the calls of the simulated scheduler reach the API server: in what order, with which clients.
//
// Purpose: schedq's dispatcher lets bindings go first. Upstream's lets each call start at once and
// wait for a token in the order in which it was made, so that bindings wait behind patches; three
// proposals would mend that, each in another way.
#pragma once

#include <cstdint>

namespace schedq {

enum class CallOrder : uint8_t {
  kRelevance,  // Bindings, deletions, patches: what waits in the dispatcher starts in this order.
  kArrival,    // As they come. What waits for its token is in flight, and merged with nothing.
};

struct CallSettings {
  double calls_per_second = 0;  // Of each client; 0: as the cost model says.
  uint32_t burst = 0;           // 0: the calls of a second.
  CallOrder order = CallOrder::kRelevance;

  // What was proposed. All need the order of arrival.
  uint32_t patches_in_flight_max = 0;  // Patches of failed attempts; 0: no bound.
  bool bindings_have_client = false;   // A client of their own, and so tokens of their own.
  bool gates_reentry = false;          // A failed pod enters the queue when its patch has ended.

  bool events_have_client = false;  // As in the kube-scheduler binary, not in scheduler_perf.

  bool has_proposal() const {
    return patches_in_flight_max != 0 || bindings_have_client || gates_reentry;
  }
  bool operator==(const CallSettings&) const = default;
};

}  // namespace schedq
