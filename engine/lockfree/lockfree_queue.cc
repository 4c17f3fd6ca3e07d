#include "engine/lockfree/lockfree_queue.h"

#include <atomic>

namespace schedq {

template class BasicLockfreeQueue<std::atomic>;

}  // namespace schedq
