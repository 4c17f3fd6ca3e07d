#include "dispatcher/call_queue.h"

namespace schedq {

template class CallQueue<std::atomic>;

}  // namespace schedq
