// Push and pop of one entry on a strict priority queue of 1,000 entries.
//
//   T1 .. Tn --push--> [ 8 priorities, 1,000 entries ] --pop--> T1 .. Tn
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/lab/scale/atom.h"
#include "bench/lab/scale/engine_scene.h"
#include "bench/lab/scale/renderings.h"
#include "bench/lab/scale/scale_path.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "perf/documents/bench_document.h"

namespace schedq::scale {
namespace {

constexpr uint64_t kEntries = 1000;

// The product's queue with the interface of a rendering.
template <template <typename> class Atom>
class StrictQueue {
 public:
  explicit StrictQueue(size_t) {}
  void Push(const ActiveEntry& entry) { queue_.Push(entry); }
  std::optional<ActiveEntry> TryPop() { return queue_.TryPop(); }

 private:
  ActiveQueue<Atom> queue_;
};

template <template <template <typename> class> class Queue, template <typename> class Atom>
class PairsPath : public EvenPath {
 public:
  explicit PairsPath(const PathSize& size) : EvenPath(size), queue_(kEntries + size.threads + 1) {
    Random random(size.seed);
    for (uint64_t entry = 0; entry < kEntries; ++entry) queue_.Push(Entry(random, entry));
    for (uint32_t thread = 0; thread < size.threads; ++thread) {
      threads_.push_back({random.Fork(thread), 0});
    }
  }

  void Operate(uint32_t thread) {
    Thread& own = threads_[thread];
    queue_.Push(Entry(own.random, NumberFor(thread, &own.calls, kEntries)));
    SCHEDQ_CHECK(queue_.TryPop().has_value(), "each thread pushes before it pops");
  }

 private:
  struct alignas(2 * CacheLines::kLineBytes) Thread {
    Random random;
    uint64_t calls = 0;
  };

  static ActiveEntry Entry(Random& random, uint64_t number) {
    return {DrawPriority(random), static_cast<int64_t>(number), number + 1};
  }

  Queue<Atom> queue_;
  std::vector<Thread> threads_;
};

template <template <template <typename> class> class Queue>
ScaleContestant Contestant(const char* name, ContenderRole role) {
  return {.path = "pairs",
          .name = name,
          .role = role,
          .operation = "push and pop of one entry, 8 priorities, 1,000 entries",
          .count = CountPath<PairsPath<Queue, Atomic>>,
          .measure = MeasurePath<PairsPath<Queue, std::atomic>>};
}

}  // namespace

void AddPairsPath(std::vector<ScaleContestant>* contestants) {
  contestants->push_back(Contestant<StrictQueue>("schedq", ContenderRole::kProduct));
  contestants->push_back(Contestant<LockedHeap>("mutex+binary heap", ContenderRole::kRival));
  contestants->back().is_serial = true;
  contestants->push_back(
      Contestant<CombiningHeap>("flat combining+binary heap", ContenderRole::kRival));
  contestants->back().is_serial = true;
}

}  // namespace schedq::scale
