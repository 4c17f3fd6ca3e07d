// Goal: versions of a pod that is being bound are applied in order, the newest one always, by the
// thread that ends the binding or by the thread that brings them, and never by both at once.
// Method: one thread brings two versions while another ends the binding, exhaustive to three
// preemptions with two stale reads. A version that is applied is a plain write, so that two threads
// that apply at once are a race. An end that opens the slot before it applies must be caught.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "engine/base/atom.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "schedq/pods_being_bound.h"
#include "tests/support/model/atomic.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using model::Report;

constexpr char kUid[] = "uid";

PodRef Version(int32_t number) {
  auto pod = std::make_shared<Pod>();
  pod->name = "pod";
  pod->uid = kUid;
  pod->priority = number;
  return pod;
}

// A queue that is only the last version that it was told of. A plain cell: two threads that tell it
// at once are a race.
class ToldQueue {
 public:
  void Update(const PodRef& version) {
    MODEL_CHECK(version->priority > last_.Read(), "a version comes after all older ones");
    last_.Write(version->priority);
  }
  int32_t last() const { return last_.Read(); }

 private:
  Seam<model::Atomic>::Plain<int32_t> last_{0};
};

// The faulty one: the slot is open before the version that it held is applied.
class OpensFirst {
 public:
  bool Withhold(const PodKey&, const PodRef& version) {
    PodRef* state = state_.load();
    while (state != nullptr) {
      auto kept = std::make_unique<PodRef>(version);
      if (!state_.compare_exchange_strong(state, kept.get())) continue;
      static_cast<void>(kept.release());
      if (state != &mark_) delete state;
      return true;
    }
    return false;
  }
  void Begin(const PodKey&) { state_.store(&mark_); }
  template <typename Apply>
  void End(const PodKey&, const Apply& apply) {
    PodRef* const state = state_.exchange(nullptr);
    if (state == &mark_) return;
    apply(*state);
    delete state;
  }

 private:
  PodRef mark_;
  model::Atomic<PodRef*> state_{nullptr};
};

template <typename PodsBeingBound>
Report UpdatesMeetTheEnd() {
  model::Options options;
  options.name = testing::UnitTest::GetInstance()->current_test_info()->name();
  return model::Exhaust(options, [](model::Trial& trial) {
    const PodKey key = {0, UidFingerprint(kUid)};
    PodsBeingBound pods;
    ToldQueue queue;
    pods.Begin(key);
    trial.Thread([&] {
      for (const int32_t number : {1, 2}) {
        const PodRef version = Version(number);
        if (!pods.Withhold(key, version)) queue.Update(version);
      }
    });
    trial.Thread([&] { pods.End(key, [&](const PodRef& version) { queue.Update(version); }); });
    trial.Join();
    MODEL_CHECK(queue.last() == 2, "the newest version is applied");
    MODEL_CHECK(!pods.Withhold(key, Version(3)), "the binding has ended");
  });
}

TEST(PodsBeingBoundModel, UpdatesMeetTheEnd) {
  const Report report = UpdatesMeetTheEnd<BasicPodsBeingBound<model::Atomic>>();
  EXPECT_TRUE(report.passed() && report.complete) << report;
  EXPECT_GT(report.schedules, 20u) << report;
}

TEST(PodsBeingBoundModel, AnEndThatOpensTheSlotFirstIsCaught) {
  const Report report = UpdatesMeetTheEnd<OpensFirst>();
  EXPECT_FALSE(report.passed()) << report;
}

// The cluster tells of a deletion while the binding fails: the pod must not come back.
template <bool kLooksAgain>
Report DeletionMeetsTheEnd() {
  model::Options options;
  options.name = testing::UnitTest::GetInstance()->current_test_info()->name();
  return model::Exhaust(options, [](model::Trial& trial) {
    const PodKey key = {0, UidFingerprint(kUid)};
    BasicPodsBeingBound<model::Atomic> pods;
    model::Atomic<bool> is_queued{false};
    pods.Begin(key);
    MODEL_CHECK(pods.Withhold(key, Version(1)), "the binding is under way");
    trial.Thread([&] {
      const bool is_live = pods.End(key, [&](const PodRef&) { is_queued.store(true); });
      if (kLooksAgain && !is_live) is_queued.store(false);
    });
    trial.Thread([&] {
      pods.Forget(key);
      is_queued.store(false);
    });
    trial.Join();
    MODEL_CHECK(!is_queued.load(), "a deleted pod is in no queue");
  });
}

TEST(PodsBeingBoundModel, ADeletedPodDoesNotComeBack) {
  const Report report = DeletionMeetsTheEnd<true>();
  EXPECT_TRUE(report.passed() && report.complete) << report;
}

TEST(PodsBeingBoundModel, AnEndThatDoesNotLookAgainIsCaught) {
  const Report report = DeletionMeetsTheEnd<false>();
  EXPECT_FALSE(report.passed()) << report;
}

}  // namespace
}  // namespace schedq
