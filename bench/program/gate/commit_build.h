// A commit of the repository around the current folder, built to a program.
//
// The commit's tree is unpacked under build/gate/<commit> and built there with its own preset; what
// was built once is used again. Threads: the main thread only.
#pragma once

#include <functional>
#include <string>

#include "engine/base/result.h"

namespace schedq {

// Told what is done next, as it takes minutes.
using BuildProgress = std::function<void(const std::string& step)>;

// The path of the program. An error: no such commit, or it does not build.
Result<std::string> BuildCommit(const std::string& reference, const BuildProgress& progress);

}  // namespace schedq
