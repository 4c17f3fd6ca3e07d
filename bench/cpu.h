// The processors that the process may use, and pinning a thread to one of them.
// Threads: any.
#pragma once

#include <vector>

namespace schedq {

// The numbers of the processors in the process's affinity mask, ascending; at least one.
std::vector<int> UsableCpus();

// Pins the calling thread to one processor. Returns false where the kernel refuses.
bool PinThread(int cpu);

}  // namespace schedq
