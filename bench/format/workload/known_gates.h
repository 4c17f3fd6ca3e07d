// Which feature gates Kubernetes has, so that a misspelt one is refused.
//
// Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace schedq {

// A gate of a Kubernetes component, of this release or of one before it.
bool IsKubernetesGate(std::string_view name);

// Whether the simulated scheduler does what the gate's value says, and has no other way.
bool IsAsSimulated(std::string_view name, bool on);

// An error names the nearest gate that exists.
Status CheckGateName(const std::string& name);

}  // namespace schedq
