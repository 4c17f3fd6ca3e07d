// Goal: the event log loses no event for a pod in flight, keeps nothing that nobody needs, and
// waits for nobody.
// Method: pods that begin, read and end meet events, exhaustive to three preemptions; then seeds. A
// pod and an event play the race that the log is for: the event is logged and then looks for the
// pod, the pod shows itself and then reads the log on. A pod that reads only once must be caught.
#include "engine/lockfree/event_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using Log = EventLog<model::Atomic>;

model::Options Named(const std::string& suffix = "") {
  model::Options options;
  options.name = testing::UnitTest::GetInstance()->current_test_info()->name() + suffix;
  options.stale_reads_max = 1;
  return options;
}

// A log whose events are counted when they come and when they go.
struct Scene {
  Log log{1};
  model::Atomic<uint64_t> dropped{0};

  auto CountDropped() {
    return [this](EventLabel) { dropped.fetch_add(1); };
  }
  void Append(EventLabel label) {
    ClusterEvent event;
    event.label = label;
    log.Append({event, {}}, CountDropped());
  }
  void End(FlightPosition position) { log.End(position, CountDropped()); }
  uint64_t Read(Log::Cursor* cursor) {
    uint64_t seen = 0;
    log.ReadOn(cursor, [&](const LoggedEvent&) { ++seen; });
    return seen;
  }
  void CheckNothingIsLeft(uint64_t appended) {
    MODEL_CHECK(log.IsEmpty(), "nobody is in flight");
    MODEL_CHECK(log.events() == 0, "nobody needs an event");
    MODEL_CHECK(dropped.load() == appended, "each event is dropped once");
  }
};

// How often the pod reads after it has shown itself: 1, or 0 in the canary.
model::Body FailMeetsEvent(bool reads_again) {
  return [=](model::Trial& trial) {
    Scene scene;
    model::Atomic<bool> is_in_pool{false};
    uint64_t read = 0;
    uint64_t appended = 0;
    bool is_found = false;
    const FlightPosition position = scene.log.Begin();
    trial.Thread([&] {
      auto cursor = scene.log.BeginReading(position);
      MODEL_CHECK(cursor.has_value(), "nobody else ends the attempt");
      read += scene.Read(&*cursor);
      is_in_pool.store(true);
      if (reads_again) read += scene.Read(&*cursor);
      scene.log.EndReading(position, scene.CountDropped());
      scene.End(position);
    });
    trial.Thread([&] {
      if (!scene.log.IsEmpty()) {
        scene.Append(7);
        ++appended;
      }
      is_found = is_in_pool.load();
    });
    trial.Join();
    MODEL_CHECK(is_found || read == 1, "the pod finds the event, or is found");
    scene.CheckNothingIsLeft(appended);
  };
}

void ExpectRight(const model::Body& body, const std::string& suffix = "",
                 uint32_t preemptions_max = 3) {
  model::Options options = Named(suffix);
  options.preemptions_max = preemptions_max;
  const model::Report report = model::Exhaust(options, body);
  EXPECT_TRUE(report.passed() && report.complete) << report;
  EXPECT_GT(report.schedules, 300u) << report;
}

TEST(EventLogModel, FailMeetsEvent) { ExpectRight(FailMeetsEvent(true)); }

TEST(EventLogModelCanary, PodThatReadsOnceIsCaught) {
  const model::Report report = model::Exhaust(Named(), FailMeetsEvent(false));
  EXPECT_TRUE(report.failed_by(model::FailureKind::kCheck)) << report;
}

// Neighbours end at the same time, with an event between them: one of them must clear it all away.
model::Body EndsMeet() {
  return [](model::Trial& trial) {
    Scene scene;
    const FlightPosition first = scene.log.Begin();
    scene.Append(1);
    const FlightPosition second = scene.log.Begin();
    trial.Thread([&] { scene.End(first); });
    trial.Thread([&] { scene.End(second); });
    trial.Join();
    scene.CheckNothingIsLeft(1);
  };
}
TEST(EventLogModel, EndsMeet) { ExpectRight(EndsMeet()); }

// An event comes when the last pod goes, and another pod begins; nodes are used again at once.
model::Body EndMeetsAppendAndBegin() {
  return [](model::Trial& trial) {
    Scene scene;
    const FlightPosition first = scene.log.Begin();
    trial.Thread([&] {
      scene.End(first);
      const FlightPosition second = scene.log.Begin();
      auto cursor = scene.log.BeginReading(second);
      MODEL_CHECK(scene.Read(&*cursor) <= 1, "there is one event");
      scene.log.EndReading(second, scene.CountDropped());
      scene.End(second);
      MODEL_CHECK(!scene.log.BeginReading(first), "the first attempt is over");
    });
    trial.Thread([&] { scene.Append(2); });
    trial.Join();
    scene.CheckNothingIsLeft(1);
  };
}
TEST(EventLogModel, EndMeetsAppendAndBegin) { ExpectRight(EndMeetsAppendAndBegin(), "", 2); }

// A reader holds what another thread ends.
model::Body ReadMeetsEnd() {
  return [](model::Trial& trial) {
    Scene scene;
    const FlightPosition position = scene.log.Begin();
    scene.Append(3);
    trial.Thread([&] {
      auto cursor = scene.log.BeginReading(position);
      if (!cursor) return;
      MODEL_CHECK(scene.Read(&*cursor) == 1, "what is held stays");
      scene.log.EndReading(position, scene.CountDropped());
    });
    trial.Thread([&] { scene.End(position); });
    trial.Join();
    scene.CheckNothingIsLeft(1);
  };
}
TEST(EventLogModel, ReadMeetsEnd) { ExpectRight(ReadMeetsEnd()); }

TEST(EventLogModelSweep, ThreeThreadsBeginAppendAndEnd) {
  const auto body = [](model::Trial& trial) {
    Scene scene;
    for (int thread = 0; thread < 3; ++thread) {
      trial.Thread([&scene] {
        const FlightPosition first = scene.log.Begin();
        scene.Append(1);
        const FlightPosition second = scene.log.Begin();
        auto cursor = scene.log.BeginReading(first);
        MODEL_CHECK(scene.Read(&*cursor) >= 1, "its own event is behind its own node");
        scene.log.EndReading(first, scene.CountDropped());
        scene.End(first);
        scene.Append(2);
        scene.End(second);
      });
    }
    trial.Join();
    scene.CheckNothingIsLeft(6);
  };
  const model::Report report = model::Sweep(Named(), 20'000, body);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(EventLogModelStall, FrozenThreadStopsNobody) {
  int number = 0;
  for (const model::Body& body :
       {FailMeetsEvent(true), EndsMeet(), EndMeetsAppendAndBegin(), ReadMeetsEnd()}) {
    model::Options options = Named(std::to_string(number++));
    options.preemptions_max = 1;
    const model::Report report = model::ExhaustStalls(options, body);
    EXPECT_TRUE(report.passed() && report.complete) << report;
    EXPECT_GT(report.freezes, 10u) << report;
  }
}

}  // namespace
}  // namespace schedq
