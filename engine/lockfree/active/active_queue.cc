#include "engine/lockfree/active/active_queue.h"

namespace schedq {

// Compiles all of it, also what no caller uses.
template class ActiveQueue<>;

}  // namespace schedq
