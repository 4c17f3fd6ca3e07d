// Runs a body over the ranges of [0, size) on several threads.
//
// Purpose: the product's only user of oneTBB. When not to use it: for work below a few microseconds
// a range; and where a caller must not wait for other threads.
// Threads: any. The caller runs ranges too, and returns when every range is done; what the ranges
// wrote is then visible to it. While it waits it runs no other caller's ranges, so it may hold a
// lock. Under ThreadSanitizer, which cannot see into the TBB library, the ranges run on plain
// threads.
#pragma once

#include <cstddef>
#include <functional>

namespace schedq {

// Ranges hold at least `grain` numbers, except that a smaller `size` is one range.
void ForEachRange(size_t size, size_t grain,
                  const std::function<void(size_t begin, size_t end)>& body);

}  // namespace schedq
