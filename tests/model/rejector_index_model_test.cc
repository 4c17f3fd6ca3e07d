// Goal: clearing marks loses no pod of the pool: an event that came after a pod entered the pool
// finds its mark, or the pod finds the event.
// Method: pods that enter and leave meet events that visit, and clear what they find unused,
// exhaustive to two preemptions with stale reads; then seeds. A pod that does not mark again once
// it is in the pool must be caught.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/lockfree/pods/rejector_index.h"
#include "engine/plugin.h"
#include "engine/pod_key.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

constexpr PluginId kFilter = 0;

model::Options Named(const std::string& suffix = "") {
  model::Options options = model::OptionsOfTest(suffix);
  options.preemptions_max = 2;
  options.stale_reads_max = 1;
  return options;
}

// Two pods whose slots share a block, or lie in two blocks of one summary.
struct Pods {
  explicit Pods(PodId second) : ids{0, second} { index.Ensure(kLimit); }

  static constexpr uint32_t kLimit = 128;
  const std::array<PodId, 2> ids;
  RejectorIndex<model::Atomic> index{1};
  std::array<model::Atomic<bool>, 2> in_pool{};
  model::Atomic<uint64_t> events{0};

  bool IsInPool(PodId id) const {
    for (size_t pod = 0; pod < ids.size(); ++pod) {
      if (ids[pod] == id) return in_pool[pod].load();
    }
    return false;
  }
  // Returns how many events had come once the pod was in the pool.
  uint64_t Enter(size_t pod, bool marks_again = true) {
    index.Mark(ids[pod], PluginSet::Of(kFilter));
    in_pool[pod].store(true);
    if (marks_again) index.Mark(ids[pod], PluginSet::Of(kFilter));
    return events.load();
  }
  void Leave(size_t pod) { in_pool[pod].store(false); }
  // The slots that an event looks at, as bits: bit n for pod n.
  uint64_t Event() {
    events.fetch_add(1);
    uint64_t found = 0;
    const auto visit = [&](PodId first, uint64_t slots) {
      uint64_t used = 0;
      for (size_t pod = 0; pod < ids.size(); ++pod) {
        if (ids[pod] / 64 != first / 64 || (slots >> ids[pod] % 64 & 1) == 0) continue;
        found |= uint64_t{1} << pod;
        if (in_pool[pod].load()) ++used;
      }
      return used;
    };
    const auto is_in_use = [this](PodId id) { return IsInPool(id); };
    index.ForEachBlock(PluginSet::Of(kFilter), kLimit, /*may_clear=*/true, visit, is_in_use);
    return found;
  }
};

// One pod has left its mark behind and enters again; the other one is only seen by its mark.
model::Body EntryMeetsClear(PodId second, bool marks_again) {
  return [=](model::Trial& trial) {
    Pods pods(second);
    pods.Enter(0);
    pods.Leave(0);
    pods.Enter(1);
    pods.Leave(1);
    uint64_t seen = 0;
    uint64_t found = 0;
    trial.Thread([&] { seen = pods.Enter(0, marks_again); });
    trial.Thread([&] {
      static_cast<void>(pods.Event());
      found = pods.Event();
    });
    trial.Join();
    MODEL_CHECK(seen == 2 || (found & 1) != 0, "the pod sees the event, or is found");
    MODEL_CHECK((pods.Event() & 1) != 0, "it stays marked");
    static_cast<void>(pods.Event());
    MODEL_CHECK(second == 1 || pods.Event() == 1, "who left is looked at no more");
  };
}

void ExpectRight(const model::Body& body) {
  model::ExpectExhausted(model::Exhaust(Named(), body), 300);
}

TEST(RejectorIndexModel, EntryMeetsClearOfItsBlock) { ExpectRight(EntryMeetsClear(1, true)); }
TEST(RejectorIndexModel, EntryMeetsClearOfItsSummary) { ExpectRight(EntryMeetsClear(64, true)); }

TEST(RejectorIndexModelCanary, PodThatDoesNotMarkAgainIsCaught) {
  const model::Report report = model::Exhaust(Named(), EntryMeetsClear(1, false));
  EXPECT_TRUE(report.failed_by(model::FailureKind::kCheck)) << report;
}

// One thread clears while the other's event reads the marks.
model::Body ReadMeetsClear(PodId second) {
  return [=](model::Trial& trial) {
    Pods pods(second);
    pods.Enter(1);
    pods.Leave(1);
    pods.Enter(0);
    pods.Leave(0);
    bool is_in = false;
    uint64_t seen = 0;
    uint64_t found = 0;
    trial.Thread([&] { seen = pods.Enter(0); });
    trial.Thread([&] { static_cast<void>(pods.Event()); });
    trial.Thread([&] {
      is_in = pods.in_pool[0].load();
      found = pods.Event();
    });
    trial.Join();
    MODEL_CHECK(seen >= 1 || !is_in || (found & 1) != 0, "the pod sees an event, or is found");
    MODEL_CHECK((pods.Event() & 1) != 0, "it stays marked");
  };
}
TEST(RejectorIndexModel, ReadMeetsClearOfABlock) { ExpectRight(ReadMeetsClear(1)); }
TEST(RejectorIndexModel, ReadMeetsClearOfASummary) { ExpectRight(ReadMeetsClear(64)); }

// A second thread is about to move the same pod, and has marked it in its block only.
model::Body TwoMarkOnePod() {
  return [=](model::Trial& trial) {
    Pods pods(64);
    bool is_in = false;
    uint64_t seen = 0;
    uint64_t found = 0;
    trial.Thread([&] { pods.index.Mark(pods.ids[0], PluginSet::Of(kFilter)); });
    trial.Thread([&] { seen = pods.Enter(0); });
    trial.Thread([&] {
      is_in = pods.in_pool[0].load();
      found = pods.Event();
    });
    trial.Join();
    MODEL_CHECK(seen >= 1 || !is_in || (found & 1) != 0, "the pod sees an event, or is found");
  };
}
TEST(RejectorIndexModel, TwoMarkOnePod) { ExpectRight(TwoMarkOnePod()); }

// Events are numbered in the order in which they begin. A pod that stays in the pool is found by
// each that it has not seen itself.
model::Body PodsComeAndGo(PodId second) {
  return [=](model::Trial& trial) {
    Pods pods(second);
    std::array<uint64_t, 2> seen{};
    std::array<std::vector<uint64_t>, 2> found;
    for (size_t pod = 0; pod < 2; ++pod) {
      trial.Thread([&, pod] {
        pods.Enter(pod);
        pods.Leave(pod);
        seen[pod] = pods.Enter(pod);
      });
    }
    for (size_t thread = 0; thread < 2; ++thread) {
      trial.Thread([&, thread] {
        for (int i = 0; i < 3; ++i) {
          const uint64_t before = pods.events.load();
          const uint64_t slots = pods.Event();
          for (size_t pod = 0; pod < 2; ++pod) {
            if ((slots >> pod & 1) == 0) found[thread].push_back(before << 1 | pod);
          }
        }
      });
    }
    trial.Join();
    // A pod that was missed by an event that began after so many others saw that many at least, or
    // more.
    for (const std::vector<uint64_t>& misses : found) {
      for (const uint64_t miss : misses) {
        MODEL_CHECK(seen[miss & 1] > miss >> 1, "a pod of the pool was missed");
      }
    }
    MODEL_CHECK(pods.Event() == 3, "both stay marked");
  };
}

TEST(RejectorIndexModelSweep, PodsComeAndGo) {
  int number = 0;
  for (const PodId second : {1, 64}) {
    const model::Report report =
        model::Sweep(Named(std::to_string(number++)), 20'000, PodsComeAndGo(second));
    EXPECT_TRUE(report.passed()) << report;
  }
}

TEST(RejectorIndexModelStall, FrozenThreadStopsNoOther) {
  int number = 0;
  for (const model::Body& body : {EntryMeetsClear(1, true), ReadMeetsClear(64)}) {
    model::Options options = Named(std::to_string(number++));
    options.preemptions_max = 1;
    model::ExpectNoStall(model::ExhaustStalls(options, body), 10);
  }
}

}  // namespace
}  // namespace schedq
