// A commit of the repository around the current folder, built to a program.
//
// The commit's tree is unpacked below build/gate/<commit>.building-<process> and built there with
// a preset of its own. The program and its checksum then become build/gate/<commit>, or
// build/gate/<commit>-<preset> with another preset than kQuickPreset, by one rename: what
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

// What a workload does on the virtual clock does not depend on optimization, and this preset builds
// in a fraction of the time, much of it from what ccache has of the checkout's own builds.
inline constexpr const char* kQuickPreset = "dev";

// The path of the program. An error: no such commit, or it does not build.
Result<std::string> BuildCommit(const std::string& reference, const std::string& preset,
                                const BuildProgress& progress);

}  // namespace schedq
