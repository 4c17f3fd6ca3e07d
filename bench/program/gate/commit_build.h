// A commit of the repository around the current folder, built to a program.
//
// The commit's tree is unpacked below build/gate/<commit>.building-<process> and built there with
// its own preset. The program and its checksum then become build/gate/<commit> by one rename: what
// was built once is verified and used again, and a build that was ended in the middle is no base.
// Processes that want the same commit take turns, by a lock on build/gate/<commit>.lock.
// Threads: the main thread only.
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
