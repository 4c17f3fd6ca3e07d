// What a run on the real clock has beyond one on the virtual clock.
//
// Threads: pure data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace schedq {

// Resident memory of the process while a workload goes on for a given time (--duration).
struct MemoryCourse {
  uint64_t bytes_at_tenth = 0;
  uint64_t bytes_at_end = 0;

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("bytes_at_tenth", self.bytes_at_tenth, "After a tenth of the time.");
    archive.Field("bytes_at_end", self.bytes_at_end, "At its end.");
  }
};

struct RealFigures {
  // Processor time in seconds.
  std::map<std::string, double> cpu_by_thread;
  std::map<std::string, double> cpu_by_part;
  uint64_t conflicts = 0;
  // Without jemalloc nobody counts them.
  std::optional<double> allocations;
  std::optional<double> allocated_bytes;
  std::optional<MemoryCourse> memory;          // With --duration.
  std::optional<double> instructions_per_pod;  // With --instructions.

  void Add(const RealFigures& more) {
    for (const auto& [thread, seconds] : more.cpu_by_thread) cpu_by_thread[thread] += seconds;
    for (const auto& [part, seconds] : more.cpu_by_part) cpu_by_part[part] += seconds;
    conflicts += more.conflicts;
    AddTo(&allocations, more.allocations);
    AddTo(&allocated_bytes, more.allocated_bytes);
  }

  template <typename Archive, typename Self>
  static void Describe(Archive& archive, Self& self) {
    archive.Field("cpu_by_thread", self.cpu_by_thread, "Processor seconds of each thread.");
    archive.Field("cpu_by_part", self.cpu_by_part, "The same by part of the work.");
    archive.Field("conflicts", self.conflicts, "Decisions that another thread was ahead of.");
    archive.Optional("allocations", self.allocations, "Allocations of the whole process.");
    archive.Optional("allocated_bytes", self.allocated_bytes,
                     "Bytes that the named threads allocated, freed since or not.");
    archive.Optional("memory", self.memory, "With --duration: resident memory.");
    archive.Optional("instructions_per_pod", self.instructions_per_pod,
                     "With --instructions: of all threads in the measured sections, counted by "
                     "callgrind in a run apart.");
  }

 private:
  static void AddTo(std::optional<double>* sum, const std::optional<double>& more) {
    if (more) *sum = sum->value_or(0) + *more;
  }
};

}  // namespace schedq
