#include "hints/claims/claim_index-inl.h"

namespace schedq {

template class BasicClaimIndex<std::atomic>;

}  // namespace schedq
