// Temporary files and folders that must not outlive the process, however it ends.
//
// Purpose: a destructor removes what it made, but a signal that ends the process runs no
// destructor. What is remembered here is removed by RemoveLeftovers, which a signal handler may
// call. Only SIGKILL leaves something behind.
// Threads: any.
// Invariants:
//  1. Only the process that remembered a path removes it: a forked child does not.
//  2. RemoveLeftovers allocates nothing and takes no lock.
// Memory: static, kLeftoversMax paths of at most kLeftoverPathMax bytes. What does not fit is not
// remembered; its destructor still removes it.
#pragma once

#include <cstddef>
#include <string>

namespace schedq {

inline constexpr size_t kLeftoversMax = 32;
inline constexpr size_t kLeftoverPathMax = 4096;

// Remembers one path for as long as it lives.
class Leftover {
 public:
  explicit Leftover(const std::string& path);
  Leftover(Leftover&& other) noexcept;
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;
  Leftover& operator=(Leftover&&) = delete;
  ~Leftover();

 private:
  static constexpr size_t kNone = kLeftoversMax;

  size_t slot_ = kNone;
};

// Removes all that is remembered: files, and folders with what is in them.
void RemoveLeftovers();

}  // namespace schedq
