// Temporary files and folders that must not outlive the process, however it ends.
//
// Purpose: a destructor removes what it made, but a signal that ends the process runs no
// destructor. What is remembered here is removed by RemoveLeftovers, which a signal handler may
// call. Only SIGKILL leaves something behind.
// Threads: any.
// Invariants:
//  1. Only the process that remembered a path removes it: a forked child does not.
//  2. RemoveLeftovers allocates nothing and takes no lock.
//  3. What is made through a Leftover is removed at whatever moment the process ends: the removal
//     waits for a path that another thread is making, and no path is made after ForbidMaking.
//  4. A path that this process has not made is not removed: one that exists already stays.
// Memory: static, kLeftoversMax paths of at most kLeftoverPathMax bytes. What does not fit is not
// remembered; its destructor still removes it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace schedq {

inline constexpr size_t kLeftoversMax = 32;
inline constexpr size_t kLeftoverPathMax = 4096;

// Remembers one path for as long as it lives.
class Leftover {
 public:
  explicit Leftover(const std::string& path);
  // Makes the path by `make`, one system call that gives a number below 0 where it fails, and
  // remembers what was made. Meanwhile this thread handles no signal.
  Leftover(const std::string& path, const std::function<int()>& make);
  Leftover(Leftover&& other) noexcept;
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;
  Leftover& operator=(Leftover&&) = delete;
  ~Leftover();

  // What `make` returned, for the moment after the constructor: errno is as `make` left it.
  int made() const { return made_; }

 private:
  static constexpr size_t kNone = kLeftoversMax;

  // Takes a free slot for the path, if there is one and the path fits.
  void Take(const std::string& path);
  void MakeInSlot(const std::function<int()>& make);

  size_t slot_ = kNone;
  int made_ = 0;
};

// Removes a file, or a folder with what is in it to a depth of 32. Allocates nothing, so that a
// destructor can remove what it must where memory has run out.
void RemoveTree(const std::string& path);

// For the end of the process: from here on a thread that is to make a path sleeps instead. May be
// called in a signal handler.
void ForbidMaking();

// Removes all that is remembered: files, and folders with what is in them.
void RemoveLeftovers();

}  // namespace schedq
