// An event as it is kept for pods in flight.
#pragma once

#include "engine/event.h"
#include "engine/object.h"

namespace schedq {

struct LoggedEvent {
  ClusterEvent event;
  ObjectChange change;
};

}  // namespace schedq
