#include "engine/lockfree/lockfree_queue.h"

#include "engine/lockfree/lockfree_attempt-inl.h"
#include "engine/lockfree/lockfree_cluster-inl.h"
#include "engine/lockfree/lockfree_events-inl.h"
#include "engine/lockfree/lockfree_finish-inl.h"
#include "engine/lockfree/lockfree_groups-inl.h"
#include "engine/lockfree/lockfree_read-inl.h"
#include "engine/lockfree/lockfree_requeue-inl.h"

namespace schedq {

template class BasicLockfreeQueue<std::atomic>;

}  // namespace schedq
