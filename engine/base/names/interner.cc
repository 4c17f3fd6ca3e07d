#include "engine/base/names/interner-inl.h"

namespace schedq {

template class BasicInterner<std::atomic>;

}  // namespace schedq
