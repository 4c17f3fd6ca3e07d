// Claims as the allocator reads them: classes looked up, expressions and attributes as numbers.
//
// Purpose: done once for an attempt, however many nodes it looks at.
// Threads: immutable once made. The claims' specs outlive it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/devices/attribute_values.h"
#include "bench/sim/devices/selector_matches.h"

namespace schedq {

struct PreparedClaims {
  // A wish: what `exactly` says, or one of the alternatives.
  struct Wish {
    const ExactRequest* spec = nullptr;
    size_t number = 0;                  // Of all wishes.
    std::vector<SelectorId> selectors;  // The class's, then the request's.
    size_t class_selectors = 0;         // So many are the class's.
  };
  struct Constraint {
    AttributeId attribute = 0;
    bool wants_distinct = false;
    std::vector<bool> concerns;  // By number of the wish.
  };
  struct Claim {
    const ClaimSpec* spec = nullptr;
    std::vector<std::vector<Wish>> requests;
    size_t first_constraint = 0;  // In `constraints`.
    size_t constraints_end = 0;
  };

  std::vector<Claim> claims;
  std::vector<Constraint> constraints;
  size_t wish_count = 0;
  bool has_alternatives = false;
  std::string fault;  // Why they cannot be allocated; empty: they can be tried.
};

}  // namespace schedq
