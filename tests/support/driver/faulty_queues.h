// Engines with a planted fault, which the driver must catch.
#pragma once

#include <cstdint>

#include "tests/support/driver/driver.h"

namespace schedq {

enum class Fault : uint8_t {
  kLosesAThirdFailure,       // A pod that fails for the third time is only done.
  kPopsTheSecondBest,        // Of three in active, if they are.
  kMissesEventsWhileTwoFly,  // Nobody sees an event that comes while two pods are in flight.
};

DrivenEngine FaultyEngine(Fault fault);

}  // namespace schedq
