// The control of a stall test: the same subject behind one mutex, which the harness must reject.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "tests/support/stall/harness.h"

namespace schedq::stall {

template <typename Inner>
class Locked final : public Subject {
 public:
  void Operate(uint32_t thread, uint64_t turn) override {
    const std::lock_guard lock(mutex_);
    inner_.Operate(thread, turn);
  }
  std::string Check() override { return inner_.Check(); }

 private:
  std::mutex mutex_;
  Inner inner_;
};

// Runs rounds until a freeze is inside the lock. The short timeout is for the control alone.
inline Report RunControl(uint32_t threads, const MakeSubject& make_subject) {
  return Run({.threads = threads, .rounds = 1000, .block_timeout = std::chrono::milliseconds(200)},
             make_subject);
}

}  // namespace schedq::stall
