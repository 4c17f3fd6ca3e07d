#include "hints/groups/group_index-inl.h"

namespace schedq {

template class BasicGroupIndex<std::atomic>;

}  // namespace schedq
