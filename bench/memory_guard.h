// How much memory this process may use, and whether it uses more.
//
// Purpose: a workload that grows without end is ended with a reason, before the kernel ends the
// process and all that was measured is lost.
// When not to use it: to weigh a structure; that is bench/allocation_meter.h.
// Threads: one thread an object.
// Invariants: what the allocator keeps although it was freed counts only until it was asked to give
// it back.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"

namespace schedq {

// What may be taken without harm to others: of the machine's memory what is available, and no more
// than the control groups of this process leave. `root` is where proc and sys are mounted.
uint64_t FreeMemoryBytes(const std::string& root = "");

// "512M", "2GiB" or a number of bytes; units are powers of 1024.
Result<uint64_t> ParseBytes(const std::string& text);

class MemoryGuard {
 public:
  // 0: nine tenths of what is free now, beyond what is in use.
  explicit MemoryGuard(uint64_t bytes_max);
  MemoryGuard(const MemoryGuard&) = delete;
  MemoryGuard& operator=(const MemoryGuard&) = delete;
  ~MemoryGuard();

  // Whether more than the limit is in use now. A system call: poll it every millisecond, not every
  // operation. Once true it stays true until Reset.
  bool IsExceeded();
  void Reset() { used_ = 0; }
  // Why the work ended: how much was in use and what the limit is.
  std::string Reason() const;

  uint64_t bytes_max() const { return bytes_max_; }
  // Of this process, resident.
  uint64_t BytesInUse() const;

 private:
  const int statistics_;  // /proc/self/statm
  uint64_t bytes_max_ = 0;
  uint64_t used_ = 0;  // What was in use when the limit was exceeded; 0: it is not.
};

}  // namespace schedq
