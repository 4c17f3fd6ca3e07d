// Probes of atomic additions on one core and on two, and of a cache line's transfer between cores.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/lab/floor/core_pair.h"
#include "bench/lab/floor/floor.h"
#include "bench/lab/floor/timing.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

struct alignas(128) Line {
  std::atomic<uint64_t> value{0};
};

// Relaxed suffices: the sum is read after the threads have been joined.
void AddMany(Line& line, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) line.value.fetch_add(1, std::memory_order_relaxed);
}

double AddAlone(uint64_t count) {
  Line line;
  const double nanoseconds =
      NanosecondsEach(static_cast<double>(count), [&] { AddMany(line, count); });
  SCHEDQ_CHECK(line.value.load() == count, "additions were lost");
  return nanoseconds;
}

double AddTogether(uint64_t count_each) {
  Line line;
  const auto work = [&] { AddMany(line, count_each); };
  const double seconds = RunOnCorePair(work, work);
  SCHEDQ_CHECK(line.value.load() == 2 * count_each, "additions were lost");
  return seconds * 1e9 / static_cast<double>(2 * count_each);
}

// The first thread writes odd numbers, the second even ones. Each waits for the other's.
// The release store pairs with the acquire load, as in every transfer of data, whose cost this is.
double PassLine(uint64_t rounds) {
  Line line;
  const auto play = [&](uint64_t number) {
    for (uint64_t round = 0; round < rounds; ++round, number += 2) {
      while (line.value.load(std::memory_order_acquire) != number) {
      }
      line.value.store(number + 1, std::memory_order_release);
    }
  };
  const double seconds = RunOnCorePair([&] { play(0); }, [&] { play(1); });
  SCHEDQ_CHECK(line.value.load() == 2 * rounds, "the line was not passed to the end");
  return seconds * 1e9 / static_cast<double>(2 * rounds);
}

}  // namespace

void AddAtomicProbes(std::vector<FloorProbe>& probes, FloorSize size) {
  const uint64_t count = size == FloorSize::kFull ? 2'000'000 : 500'000;
  const std::string obstacle = CorePairObstacle();
  probes.push_back({{"atomic_add_uncontended",
                     "One thread adds to a line that nobody else touches.",
                     "ns",
                     {{"threads", 1}},
                     {}},
                    [count] { return AddAlone(count); },
                    ""});
  probes.push_back({{"atomic_add_contended",
                     "Two cores add to one line: wall time per addition of both.",
                     "ns",
                     {{"threads", 2}},
                     {}},
                    [count] { return AddTogether(count / 4); },
                    obstacle});
  probes.push_back({{"line_transfer_one_way",
                     "A written line seen by another core: half of a ping-pong.",
                     "ns",
                     {{"threads", 2}},
                     {}},
                    [count] { return PassLine(count / 20); },
                    obstacle});
}

}  // namespace schedq
