// Logs an event for the pods in flight.
#pragma once

#include "engine/event.h"
#include "engine/object.h"

namespace schedq {

// Nothing where no pod is in flight: one that is popped after this begins its attempt after the
// event.
template <typename Parts>
void LogIfAnyInFlight(Parts* parts, const ClusterEvent& event, const ObjectChange& change) {
  if (parts->log.IsEmpty()) return;
  parts->metrics.AddInFlight(event.label, 1);
  parts->log.Append({event, change});
}

}  // namespace schedq
