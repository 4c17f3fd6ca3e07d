// The name of the interner, for headers that only pass it on.
#pragma once

#include <atomic>

namespace schedq {

template <template <typename> class Atom>
class BasicInterner;
using Interner = BasicInterner<std::atomic>;

}  // namespace schedq
