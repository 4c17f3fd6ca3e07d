// A path of `schedq scale`: an operation that each thread repeats, on virtual threads or real ones.
//
// Purpose: one class template a path, over the Atom. It is made for so many threads, which are not
// running yet; then each thread calls Operate(thread) as often as Share(thread) says, once to warm
// up and once to be counted or measured.
// Threads: the constructor's one thread; Operate from its thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/lab/paths/thread_team.h"
#include "bench/lab/scale/cache_lines.h"
#include "bench/lab/scale/virtual_team.h"
#include "perf/documents/bench_document.h"

namespace schedq::scale {

struct PathSize {
  uint32_t threads = 1;
  uint64_t operations = 0;  // Of all threads together, in each of the two runs.
  uint64_t seed = 1;

  // Of `threads` or fewer threads that divide the operations evenly; each has at least one.
  uint64_t ShareOf(uint32_t members) const { return std::max<uint64_t>(operations / members, 1); }
};

// One contestant on one path.
struct ScaleContestant {
  std::string path;  // "pairs"
  std::string name;  // "schedq"
  ContenderRole role = ContenderRole::kRival;
  std::string operation;  // "push and pop of one entry"
  // A lock's holder does the whole operation under it.
  bool is_serial = false;
  std::function<LineCounts(const PathSize&)> count;
  // Wall nanoseconds an operation.
  std::function<double(const PathSize&)> measure;
};

// What each path adds, in a file of its own.
void AddPairsPath(std::vector<ScaleContestant>* contestants);
void AddPodPaths(std::vector<ScaleContestant>* contestants);
void AddClaimsPath(std::vector<ScaleContestant>* contestants);
void AddCallsPath(std::vector<ScaleContestant>* contestants);

template <typename Path>
LineCounts CountPath(const PathSize& size) {
  VirtualTeam team(size.threads, size.seed);
  Path path(size);
  const auto work = [&](uint32_t thread) {
    for (uint64_t left = path.Share(thread); left > 0; --left) {
      team.lines().BeginOperation(thread, path.IsOperation(thread));
      path.Operate(thread);
    }
  };
  team.Run(work);
  team.lines().StartCounting();
  team.Run(work);
  return team.lines().counts();
}

template <typename Path>
double MeasurePath(const PathSize& size) {
  Path path(size);
  const auto work = [&](int thread) {
    const auto number = static_cast<uint32_t>(thread);
    for (uint64_t left = path.Share(number); left > 0; --left) path.Operate(number);
  };
  RunTeam(static_cast<int>(size.threads), work);
  const double seconds = RunTeam(static_cast<int>(size.threads), work);
  uint64_t operations = 0;
  for (uint32_t thread = 0; thread < size.threads; ++thread) {
    if (path.IsOperation(thread)) operations += path.Share(thread);
  }
  return seconds * 1e9 / static_cast<double>(operations);
}

// What most paths are: each thread does as many operations as the others.
class EvenPath {
 public:
  explicit EvenPath(const PathSize& size) : size_(size) {}

  uint64_t Share(uint32_t) const { return size_.ShareOf(size_.threads); }
  // Whether the thread's calls count as operations; where two threads share one, the first's do.
  bool IsOperation(uint32_t) const { return true; }

  // How many numbers both runs of so many threads take at most.
  uint64_t NumbersEndOf(uint32_t threads) const { return 2 * size_.ShareOf(1) + 2 * threads; }

 protected:
  // A number for each call of each thread in both runs, beginning with `first`.
  uint64_t NumberFor(uint32_t thread, uint64_t* calls, uint64_t first) const {
    return first + (*calls)++ * size_.threads + thread;
  }

  const PathSize size_;
};

}  // namespace schedq::scale
