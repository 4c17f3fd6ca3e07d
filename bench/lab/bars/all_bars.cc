// The table of bars. Each bar states the least work of its path in atomics, cache misses, clock
// reads and bytes; bench/lab/floor measures the cost of these in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/lab/bars/bar.h"
#include "bench/lab/paths/backoff_paths.h"
#include "bench/lab/paths/claim_storm.h"
#include "bench/lab/paths/pod_life.h"
#include "perf/text/number_text.h"

namespace schedq {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;

class Table {
 public:
  explicit Table(bool is_tiny) : is_tiny_(is_tiny) {}

  // The size to run for a size of the table.
  int64_t Sized(int64_t size) const { return is_tiny_ ? std::min<int64_t>(size, 1000) : size; }
  bool is_tiny() const { return is_tiny_; }

  Bar& Add(const std::string& path, const std::string& at, const std::string& group) {
    Bar& bar = bars_.emplace_back();
    bar.path = path;
    bar.at = at;
    bar.group = group;
    return bar;
  }
  std::vector<Bar> Finish() { return std::move(bars_); }

 private:
  const bool is_tiny_;
  std::vector<Bar> bars_;
};

std::string Count(int64_t count) { return CountText(static_cast<uint64_t>(count)); }

// The working set of records and names for a number of pods.
uint64_t WorkingSet(int64_t pods) {
  return (pods <= 10'000 ? 4 : pods <= 100'000 ? 64 : 256) * kMebibyte;
}

const char* ReasonOfActiveQueue(bool is_random, int threads) {
  if (is_random) {
    return "every pair meets another priority: no lane is shared, and the heap behind the lanes "
           "does the work";
  }
  if (threads == 1) {
    return "a pair takes three locked instructions and two collects, a lock two; a heap of few "
           "entries lies in the first cache";
  }
  return "threads that meet take turns of some 20 us; at a change all lines of the runs and of the "
         "directory travel";
}

void AddActiveQueue(Table& table, const char* priorities, int64_t entries, int threads,
                    double limit, double aim) {
  const bool is_random = priorities == std::string("random");
  Bar& bar =
      table.Add(std::string("strict active queue, push+pop pair, ") + priorities + " priorities",
                fmt::format("{} entries, {} thread{}", Count(table.Sized(entries)), threads,
                            threads == 1 ? "" : "s"),
                fmt::format("engine/active_queue/{}_priorities/{}_entries/{}_thread{}", priorities,
                            table.Sized(entries), threads, threads == 1 ? "" : "s"));
  bar.kind = BarKind::kTimesRival;
  bar.limit = limit;
  bar.aim = aim;
  // One exchange publishes an entry and one claims it. Between threads the claimed line has moved.
  bar.floor = {{2, threads == 1 ? "atomic_add_uncontended" : "atomic_add_contended"}};
  bar.reason = ReasonOfActiveQueue(is_random, threads);
}

void AddActiveQueues(Table& table) {
  for (const int64_t entries : {1000, 100'000, 1'000'000}) {
    AddActiveQueue(table, "8", entries, 1, 2, 3);
  }
  for (const int threads : {2, 8}) {
    for (const int64_t entries : {1000, 100'000, 1'000'000}) {
      AddActiveQueue(table, "8", entries, threads, entries == 1000 ? 1 : 1.5, 3);
    }
  }
  for (const int64_t entries : {1000, 100'000, 1'000'000}) {
    AddActiveQueue(table, "random", entries, 1, 0.5, 1);
    AddActiveQueue(table, "random", entries, 8, 1, 1);
  }
}

void AddPodLife(Table& table, int64_t pods, double limit, double upstream) {
  const int64_t sized = table.Sized(pods);
  Bar& bar = table.Add("add + pop + done per pod, one thread", Count(sized) + " pods",
                       fmt::format("engine/pod_life/{}_pods", sized));
  bar.limit = limit;
  bar.aim = upstream / 100;
  bar.aim_text = fmt::format("100x upstream: {} ns", NumberText(upstream / 100));
  // Atomics: Add has the slot and the push, Pop the claim, the slot and the log, Done the slot.
  // Misses: the name's entry, the record and the pod.
  bar.floor = {
      {6, "atomic_add_uncontended"}, {3, "random_miss", WorkingSet(sized)}, {1, "clock_read"}};
  bar.sampled = [sized] { return std::make_unique<PodLife>(EngineKind::kLockfree, sized); };
}

void AddProducerConsumer(Table& table) {
  const int64_t sized = table.Sized(100'000);
  Bar& bar = table.Add("one producer, one consumer", Count(sized) + " pods",
                       fmt::format("engine/producer_consumer/{}_pods", sized));
  bar.kind = BarKind::kTimesControl;
  bar.limit = 1;
  bar.aim = 1 / 1.5;
  bar.aim_text = "1.5x one thread";
  bar.beats_classic = true;
  // The atomics and misses of the longer half of a pod's life, and two transfers of cache lines.
  bar.floor = {{3, "atomic_add_uncontended"},
               {2, "random_miss", WorkingSet(sized)},
               {2, "line_transfer_one_way"}};
  bar.reason = "with two threads the lines of slot and ticket change hands for every pod";
}

void AddStorm(Table& table, int64_t pods, double limit) {
  const int64_t sized = table.Sized(pods);
  Bar& bar = table.Add("claim storm narrowed, per event", Count(sized) + " pods",
                       fmt::format("engine/claim_storm/narrowed/{}_pods", sized));
  bar.limit = limit;
  bar.aim = 120;
  bar.aim_text = "100x upstream: 120 ns at 100,000";
  // Atomics: the slot and the push. Misses: the event's object, the claim's entry, the record and
  // the pod. The event's duration takes two clock reads.
  bar.floor = {
      {2, "atomic_add_uncontended"}, {4, "random_miss", WorkingSet(sized)}, {2, "clock_read"}};
  bar.sampled = [sized] {
    return std::make_unique<ClaimStorm>(
        ClaimStorm::Options{EngineKind::kLockfree, true, sized, sized});
  };
}

void AddStormOfAllPods(Table& table) {
  const int64_t sized = table.Sized(10'000);
  const int64_t events = std::min<int64_t>(sized, 200);
  Bar& bar = table.Add("claim storm not narrowed, per pod judged", Count(sized) + " pods",
                       fmt::format("engine/claim_storm/all_pods/{}_pods", sized));
  bar.limit = 20;
  bar.aim = 3;
  // Each event takes one pod out of the pool, so the divisor is the mean number of pods in it.
  bar.divisor = static_cast<double>(sized) - static_cast<double>(events - 1) / 2;
  // A record and the pod's claim are two lines, read one after the other.
  bar.floor = {{128, "sequential_read"}};
  bar.sampled = [sized, events] {
    return std::make_unique<ClaimStorm>(
        ClaimStorm::Options{EngineKind::kLockfree, false, sized, events});
  };
}

void AddAddDuringStorm(Table& table) {
  Bar& bar =
      table.Add("Add at 1,000 a second during the storm, p99", Count(table.Sized(10'000)) + " pods",
                fmt::format("engine/add_during_storm/{}_pods", table.Sized(10'000)));
  bar.limit = 50'000;
  bar.aim_text = "p99.9 20 us";
  bar.floor = {{2, "atomic_add_uncontended"}, {2, "random_miss", 4 * kMebibyte}, {2, "clock_read"}};
  bar.reason =
      "no lock is waited for: what is above the floor is what the kernel took away from "
      "the adding thread";
}

void AddBackoff(Table& table) {
  const int64_t sized = table.Sized(100'000);
  Bar& insert = table.Add("backoff ring, insert", Count(sized) + " entries",
                          fmt::format("engine/backoff_windows/insert/{}_entries", sized));
  insert.kind = BarKind::kTimesRival;
  insert.limit = 3;
  insert.aim_text = "30 ns";
  insert.floor = {{1, "atomic_add_uncontended"}};
  insert.reason =
      "expirations rise with time, which is a heap's best case: its push stays at the "
      "bottom and costs one comparison";
  Bar& flush = table.Add("backoff ring, flush per pod", Count(sized) + " pods, 8 priorities",
                         fmt::format("engine/backoff_flush/{}_pods", sized));
  flush.limit = 100;
  flush.aim = 30;
  // Atomics: the window's claim, the slot and the push. The miss is the record.
  flush.floor = {{3, "atomic_add_uncontended"}, {1, "random_miss", WorkingSet(sized)}};
  flush.sampled = [sized] {
    return std::make_unique<BackoffFlush>(
        BackoffOptions{.engine = EngineKind::kLockfree, .pods = sized});
  };
}

void AddClaimIndex(Table& table) {
  Bar& bar =
      table.Add("claim index, from the claim's name, 10 % updates", "1,000,000 claims, 2 threads",
                fmt::format("hints/claim_index/{}_claims/2_threads", table.Sized(1'000'000)));
  bar.kind = BarKind::kTimesRival;
  bar.limit = 2;
  bar.aim_text = "floor + 1 miss";
  bar.floor = {{1, "random_miss", 256 * kMebibyte}};
}

void AddPodLifeAmid(Table& table) {
  const std::pair<const char*, const char*> kinds[] = {
      {"gated", "life of a pod amid as many gated ones"},
      {"updates", "the same, and an update storm on these"},
      {"deletes", "the same, and a delete storm on these"}};
  for (const auto& [group, text] : kinds) {
    Bar& bar = table.Add(text, Count(table.Sized(100'000)) + " pods",
                         fmt::format("engine/company/{}/{}_pods", group, table.Sized(100'000)));
    bar.kind = BarKind::kTimesControl;
    bar.limit = 1.5;
    bar.aim = 1.1;
    bar.reason = "the other pods share the caches, and a storm the memory's bandwidth";
  }
}

void AddMemory(Table& table) {
  // Tiny sizes run in CI, whose allocators count nothing.
  if (table.is_tiny()) return;
  Bar& bytes = table.Add("memory of a queued pod with one claim", "1,000,000 pods",
                         "engine/memory/1000000_pods");
  bytes.limit = 300;
  bytes.aim = 160;
  bytes.unit = "bytes";
  Bar& allocations = table.Add("allocations an operation, steady state", "100,000 pods",
                               "engine/allocations/100000_pods");
  allocations.limit = 0;
  allocations.aim = 0;
  allocations.unit = "allocations";
}

// `misses_allowed` raises the limit by so many misses, for objects that no cache can hold.
void AddCalls(Table& table, const char* operation, int64_t waiting, uint64_t working_set,
              double misses_allowed) {
  Bar& bar = table.Add(
      std::string("dispatcher ") + operation, Count(table.Sized(waiting)) + " waiting",
      fmt::format("dispatcher/calls/{}/{}_waiting/1_threads", operation, table.Sized(waiting)));
  bar.limit = 100;
  bar.aim = 30;
  if (misses_allowed != 0) bar.allowance = {{misses_allowed, "random_miss", working_set}};
  // One atomic guards the call that is read or names the timer's ticket, one exchanges the word of
  // the object, and one claims a cell of the wheel's inbox. The call's two lines are fetched at the
  // same time, as one miss.
  bar.floor = {{3, "atomic_add_uncontended"}, {1, "random_miss", working_set}};
  bar.reason =
      "an object is visited once, in random order: its lines come from memory, and too much is "
      "done in between for the next object's to be on their way";
}

void AddDispatcher(Table& table) {
  for (const char* operation : {"add", "overwrite", "cancel"}) {
    AddCalls(table, operation, 100'000, 64 * kMebibyte, 0);
  }
  // At tiny sizes these rows would repeat the ones above.
  if (!table.is_tiny()) {
    for (const char* operation : {"add", "overwrite", "cancel"}) {
      AddCalls(table, operation, 1'000'000, 256 * kMebibyte, 2);
    }
  }
  for (const char* operation : {"schedule", "overwrite", "cancel", "advance"}) {
    const int64_t timers = table.Sized(10'000);
    Bar& bar = table.Add(std::string("timer wheel, ") + operation, Count(timers) + " timers",
                         fmt::format("dispatcher/wheel/{}/{}_timers", operation, timers));
    bar.limit = 60;
    // One atomic is the timer's word. Scheduling also claims a cell of the inbox.
    const bool claims = operation != std::string("cancel");
    bar.floor = {{claims ? 2.0 : 1.0, "atomic_add_uncontended"}};
  }
}

}  // namespace

std::vector<Bar> AllBars(bool is_tiny) {
  Table table(is_tiny);
  AddActiveQueues(table);
  AddPodLife(table, 10'000, 200, 7270);
  AddPodLife(table, 100'000, 300, 13'519);
  AddPodLife(table, 1'000'000, 450, 22'280);
  AddProducerConsumer(table);
  AddStorm(table, 100'000, 500);
  AddStorm(table, 1'000'000, 1500);
  AddStormOfAllPods(table);
  AddAddDuringStorm(table);
  AddBackoff(table);
  AddClaimIndex(table);
  AddPodLifeAmid(table);
  AddMemory(table);
  AddDispatcher(table);
  return table.Finish();
}

}  // namespace schedq
