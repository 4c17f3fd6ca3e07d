// Runs the same work on several threads at once and times it.
// When not to use it: for latencies; it measures only the wall time of the whole.
// Threads: one thread at a time calls RunTeam; `work` runs on all threads of the team.
#pragma once

#include <functional>

namespace schedq {

// Runs work(0) ... work(threads - 1), each on a thread of its own, released together. Returns the
// seconds from the first start to the last end, without the creation and join of threads. A team of
// one runs on the calling thread. Threads are not pinned; the kernel spreads them.
double RunTeam(int threads, const std::function<void(int)>& work);

}  // namespace schedq
