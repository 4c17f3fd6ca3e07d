// Probes of dependent random misses at several working sets, and of sequential bandwidth.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "bench/lab/floor/floor.h"
#include "bench/lab/floor/timing.h"
#include "engine/base/random.h"
#include "engine/base/result.h"

namespace schedq {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;

struct alignas(64) Node {
  const Node* next = nullptr;
};
static_assert(sizeof(Node) == 64, "one node a cache line, so that every step is a miss");

// All lines of a working set in one random cycle. Each line holds the address of the next.
class Chain {
 public:
  explicit Chain(uint64_t bytes) : nodes_(bytes / sizeof(Node)) {
    std::vector<uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0);
    Random(1).Shuffle(order);
    for (size_t i = 0; i < order.size(); ++i) {
      nodes_[order[i]].next = &nodes_[order[(i + 1) % order.size()]];
    }
    position_ = &nodes_[order[0]];
    start_ = position_;
  }

  // A walk starts where the last one ended, so that repetitions do not warm up large sets.
  double Walk(uint64_t steps) {
    const Node* node = position_;
    const double nanoseconds = NanosecondsEach(static_cast<double>(steps), [&] {
      for (uint64_t i = 0; i < steps; ++i) node = node->next;
      KeepValue(node);
    });
    position_ = node;
    CheckFirstWalk(steps);
    return nanoseconds;
  }

 private:
  // The chain is one cycle through all lines, so the step after the last line leads to the first.
  void CheckFirstWalk(uint64_t steps) {
    if (is_checked_) return;
    is_checked_ = true;
    const Node* node = position_;
    for (uint64_t i = steps % nodes_.size(); i < nodes_.size(); ++i) node = node->next;
    SCHEDQ_CHECK(node == start_, "the chain does not lead through all lines");
  }

  std::vector<Node> nodes_;
  const Node* position_;
  const Node* start_;
  bool is_checked_ = false;
};

class Stream {
 public:
  explicit Stream(uint64_t bytes) : words_(bytes / sizeof(uint64_t)) {
    std::iota(words_.begin(), words_.end(), uint64_t{0});
  }

  double ReadGigabytesPerSecond() const {
    uint64_t sum = 0;
    const double bytes = static_cast<double>(words_.size() * sizeof(uint64_t));
    const double nanoseconds_each = NanosecondsEach(bytes, [&] {
      for (const uint64_t word : words_) sum += word;
      KeepValue(sum);
    });
    SCHEDQ_CHECK(sum == words_.size() * (words_.size() - 1) / 2, "the sum of all words is wrong");
    return 1 / nanoseconds_each;
  }

 private:
  std::vector<uint64_t> words_;
};

FloorProbe MissProbe(uint64_t bytes, uint64_t steps) {
  const auto chain = std::make_shared<Chain>(bytes);
  return {{"random_miss",
           "One step of a chain through a working set in random order, page walks included.",
           "ns",
           {{"bytes", bytes}},
           {}},
          [chain, steps] { return chain->Walk(steps); },
          ""};
}

}  // namespace

void AddMemoryProbes(std::vector<FloorProbe>& probes, FloorSize size) {
  const bool is_full = size == FloorSize::kFull;
  std::vector<uint64_t> sets = {kMebibyte / 32, kMebibyte / 4, kMebibyte, 4 * kMebibyte};
  if (is_full) sets.insert(sets.end(), {16 * kMebibyte, 64 * kMebibyte, 256 * kMebibyte});
  for (const uint64_t bytes : sets) probes.push_back(MissProbe(bytes, is_full ? 200'000 : 50'000));

  const uint64_t bytes = (is_full ? 128 : 16) * kMebibyte;
  const auto stream = std::make_shared<Stream>(bytes);
  probes.push_back({{"sequential_read",
                     "One thread reads a working set from front to back.",
                     "GB/s",
                     {{"bytes", bytes}},
                     {}},
                    [stream] { return stream->ReadGigabytesPerSecond(); },
                    ""});
}

}  // namespace schedq
