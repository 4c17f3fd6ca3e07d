// Engines with a planted fault, which the driver must catch.
#pragma once

#include <cstdint>

#include "tests/support/driver/driver.h"

namespace schedq {

enum class Fault : uint8_t {
  kLosesThirdFailure,            // The third failure of a pod only ends its attempt.
  kPopsSecondBest,               // A pop takes the second pod where three or more are active.
  kMissesEventsWithTwoInFlight,  // An event is lost while two pods are in flight.
  kMissesGroupDelete,            // Members stay where they are when their group's object goes.
  kLosesMemberOfPop,             // A pop does not say which the last of three members is.
  kKeepsEvents,                  // What was logged is kept for ever.
};

DrivenEngine FaultyEngine(Fault fault);

}  // namespace schedq
