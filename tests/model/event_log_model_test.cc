// Goal: the event log loses no event for a pod in flight, keeps nothing that no pod needs, and
// no operation waits for another thread.
// Method: pods that begin, read and end meet events, exhaustive to three preemptions; then seeds. A
// pod and an event play the race that the log is for: the event is logged and then looks for the
// pod, the pod shows itself and then reads the log on. A pod that reads only once must be caught.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/event.h"
#include "engine/lockfree/log/event_log.h"
#include "engine/logged_event.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"
#include "tests/support/model/runtime.h"

namespace schedq {
namespace {

using Log = EventLog<model::Atomic>;

model::Options Named(const std::string& suffix = "") {
  model::Options options = model::OptionsOfTest(suffix);
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
  FlightPosition Begin() { return log.Begin(CountDropped()); }
  void End(FlightPosition position) { log.End(position, CountDropped()); }
  // What the slot of the pod tells in the engine: `is_in_flight` may change at any time.
  std::optional<Log::Cursor> BeginReading(FlightPosition position, bool is_in_flight = true) {
    return log.BeginReading(
        position, [=] { return is_in_flight; }, CountDropped());
  }
  std::optional<Log::Cursor> BeginReading(FlightPosition position,
                                          const model::Atomic<bool>& is_in_flight) {
    return log.BeginReading(
        position, [&] { return is_in_flight.load(); }, CountDropped());
  }
  uint64_t Read(Log::Cursor* cursor) {
    uint64_t seen = 0;
    log.ReadOn(cursor, [&](const LoggedEvent&) { ++seen; });
    return seen;
  }
  void CheckNothingIsLeft(uint64_t appended) {
    MODEL_CHECK(log.IsEmpty(), "no pod is in flight");
    MODEL_CHECK(log.events() == 0, "no pod needs an event");
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
    const FlightPosition position = scene.Begin();
    trial.Thread([&] {
      auto cursor = scene.BeginReading(position);
      MODEL_CHECK(cursor.has_value(), "no other thread ends the attempt");
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
  model::ExpectExhausted(report, 300);
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
    const FlightPosition first = scene.Begin();
    scene.Append(1);
    const FlightPosition second = scene.Begin();
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
    const FlightPosition first = scene.Begin();
    trial.Thread([&] {
      scene.End(first);
      const FlightPosition second = scene.Begin();
      auto cursor = scene.BeginReading(second);
      MODEL_CHECK(scene.Read(&*cursor) <= 1, "there is one event");
      scene.log.EndReading(second, scene.CountDropped());
      scene.End(second);
      MODEL_CHECK(!scene.BeginReading(first, false), "the first attempt is over");
    });
    trial.Thread([&] { scene.Append(2); });
    trial.Join();
    scene.CheckNothingIsLeft(1);
  };
}
TEST(EventLogModel, EndMeetsAppendAndBegin) { ExpectRight(EndMeetsAppendAndBegin(), "", 2); }

// A reader holds what another thread ends. The ending thread says so first, as the slot's exchange
// does.
model::Body ReadMeetsEnd() {
  return [](model::Trial& trial) {
    Scene scene;
    const FlightPosition position = scene.Begin();
    model::Atomic<bool> is_in_flight{true};
    scene.Append(3);
    trial.Thread([&] {
      auto cursor = scene.BeginReading(position, is_in_flight);
      if (!cursor) return;
      const uint64_t read = scene.Read(&*cursor);
      MODEL_CHECK(read == 1 || read == 2, "what is held stays");
      scene.log.EndReading(position, scene.CountDropped());
    });
    trial.Thread([&] {
      is_in_flight.store(false);
      scene.End(position);
      scene.Append(4);  // The reader's node may be used again.
    });
    trial.Join();
    scene.CheckNothingIsLeft(2);
  };
}
TEST(EventLogModel, ReadMeetsEnd) { ExpectRight(ReadMeetsEnd()); }

// A pod begins while the events that its position is taken from come and go.
model::Body BeginMeetsAppend() {
  return [](model::Trial& trial) {
    Scene scene;
    const FlightPosition old = scene.Begin();
    uint64_t read = 0;
    trial.Thread([&] {
      scene.Append(5);
      scene.End(old);
      scene.Append(6);
    });
    trial.Thread([&] {
      const FlightPosition position = scene.Begin();
      auto cursor = scene.BeginReading(position);
      MODEL_CHECK(cursor.has_value(), "no other thread ends the attempt");
      scene.Append(7);
      read = scene.Read(&*cursor);
      scene.log.EndReading(position, scene.CountDropped());
      scene.End(position);
    });
    trial.Join();
    MODEL_CHECK(read >= 1 && read <= 3, "its own event is behind its position");
    scene.CheckNothingIsLeft(3);
  };
}
TEST(EventLogModel, BeginMeetsAppend) { ExpectRight(BeginMeetsAppend(), "", 2); }

TEST(EventLogModelSweep, ThreeThreadsBeginAppendAndEnd) {
  const auto body = [](model::Trial& trial) {
    Scene scene;
    for (int thread = 0; thread < 3; ++thread) {
      trial.Thread([&scene] {
        const FlightPosition first = scene.Begin();
        scene.Append(1);
        const FlightPosition second = scene.Begin();
        auto cursor = scene.BeginReading(first);
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

TEST(EventLogModelStall, FrozenThreadStopsNoOther) {
  int number = 0;
  for (const model::Body& body : {FailMeetsEvent(true), EndsMeet(), EndMeetsAppendAndBegin(),
                                  ReadMeetsEnd(), BeginMeetsAppend()}) {
    model::Options options = Named(std::to_string(number++));
    options.preemptions_max = 1;
    const model::Report report = model::ExhaustStalls(options, body);
    model::ExpectNoStall(report, 10);
  }
}

}  // namespace
}  // namespace schedq
