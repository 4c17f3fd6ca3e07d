#include "engine/lockfree/active/active_queue.h"

namespace schedq {

// Compiles all of it, whoever uses it.
template class ActiveQueue<>;

}  // namespace schedq
