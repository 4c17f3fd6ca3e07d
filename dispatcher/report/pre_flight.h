// What a PreBind plugin says before it works on a pod.
#pragma once

#include <cstdint>

namespace schedq {

enum class PreFlight : uint8_t {
  kSuccess,  // It has something to do.
  kSkip,     // It has nothing to do for this pod.
  kError,    // It fails or rejects.
};

}  // namespace schedq
