// A reference to a name that ends with the scope, also where an exception ends it.
// Threads: one.
#pragma once

#include <cstdint>

#include "engine/base/names/interner.h"

namespace schedq {

class HeldName {
 public:
  // kNoName: holds none.
  HeldName(Interner* names, uint32_t name) : names_(names), name_(name) {}
  HeldName(const HeldName&) = delete;
  HeldName& operator=(const HeldName&) = delete;
  ~HeldName() {
    if (name_ != kNoName) names_->Release(name_);
  }

 private:
  Interner* const names_;
  const uint32_t name_;
};

}  // namespace schedq
