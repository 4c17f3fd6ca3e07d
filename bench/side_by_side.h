// Does numbered tasks on several threads at once.
//
// Purpose: long pieces of work that share nothing, such as runs of workloads. When not to use it:
// for pieces of some microseconds; see hints/parallel_ranges.h.
// Threads: the caller does tasks too, and returns when all have ended; what they wrote is then
// visible to it. The others are plain threads and not oneTBB's: a task takes from milliseconds to
// minutes, so there is nothing to balance, and where the machine gives no further thread oneTBB
// throws from amid its scheduler. Here those that there are do all tasks.
// Invariants:
//  1. Tasks begin in the order of their numbers.
//  2. One job means the calling thread alone: a task begins when the one before has ended.
//  3. Once a task has thrown, none begins. Those that have begun end, then the exception leaves.
// Memory: a stack a thread.
#pragma once

#include <cstddef>
#include <functional>

namespace schedq {

// Does task(0) to task(count - 1), at most `jobs` at once.
void DoSideBySide(size_t count, size_t jobs, const std::function<void(size_t number)>& task);

}  // namespace schedq
