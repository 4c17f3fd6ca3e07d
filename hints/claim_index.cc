#include "hints/claim_index-inl.h"

namespace schedq {

template class BasicClaimIndex<std::atomic>;

}  // namespace schedq
