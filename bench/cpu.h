// Which processors the process may use, and keeping a thread on one of them.
// Threads: any.
#pragma once

#include <vector>

namespace schedq {

// The numbers of the processors in the process's affinity mask, ascending; at least one.
std::vector<int> UsableCpus();

// Keeps the calling thread on one processor. False where the kernel refuses.
bool PinThread(int cpu);

}  // namespace schedq
