// Lets one call of operator new or calloc fail.
//
// Purpose: what must hold wherever memory runs out is shown by failing each allocation in turn,
// until none is left to fail.
// When not to use it: for whole programs (tests/faults). A program that links it gets its operator
// new; its calls of calloc pass here too, but not those of shared libraries.
// Threads: each has its own count.
#pragma once

#include <cstdint>

namespace schedq {

class FailingNew {
 public:
  // The n-th call of this thread from now on fails; n counts from 1.
  explicit FailingNew(uint64_t n);
  // From here on none fails.
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  bool has_failed() const;
};

}  // namespace schedq
