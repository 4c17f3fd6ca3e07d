// What a run on the real clock has beyond one on the virtual clock.
//
// Threads: pure data.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace schedq {

struct RealFigures {
  // Processor time in seconds.
  std::map<std::string, double> cpu_by_thread;
  std::map<std::string, double> cpu_by_part;
  uint64_t conflicts = 0;

  void Add(const RealFigures& more) {
    for (const auto& [thread, seconds] : more.cpu_by_thread) cpu_by_thread[thread] += seconds;
    for (const auto& [part, seconds] : more.cpu_by_part) cpu_by_part[part] += seconds;
    conflicts += more.conflicts;
  }

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("cpu_by_thread", self.cpu_by_thread, "Processor seconds of each thread.");
    archive.Field("cpu_by_part", self.cpu_by_part, "The same by part of the work.");
    archive.Field("conflicts", self.conflicts, "Decisions that another thread was ahead of.");
  }
};

}  // namespace schedq
