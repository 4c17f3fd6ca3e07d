// Goal: the event log loses no event for a pod in flight, keeps nothing that no pod needs, and
// no operation waits for another thread.
// More events than the maximum make the oldest go, also if a position before them is held: a pod
// that read none of them must know that it missed some.
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

// Counts the events that the log lets go.
struct DropCounter {
  model::Atomic<uint64_t>* dropped;
  void operator()(EventLabel) const { dropped->fetch_add(1); }
};

struct LargeLog {
  static constexpr uint32_t kFirstLogBits = 1;
  static constexpr uint32_t kLogEventsMax = 65'536;
  static constexpr uint32_t kLogTrimMax = 64;
};

model::Options Named(const std::string& suffix = "") {
  model::Options options = model::OptionsOfTest(suffix);
  options.stale_reads_max = 1;
  return options;
}

// A log whose events are counted when they come and when they go.
template <typename Shape>
struct LogScene {
  using Log = EventLog<model::Atomic, DropCounter, Shape>;
  using Reader = typename Log::Reader;

  model::Atomic<uint64_t> dropped{0};
  Log log{DropCounter{&dropped}};

  void Append(EventLabel label) {
    ClusterEvent event;
    event.label = label;
    log.Append({event, {}});
  }
  FlightPosition Begin() { return log.Begin(); }
  void End(FlightPosition position) { log.End(position); }
  // What the slot of the pod tells in the engine: `is_in_flight` may change at any time.
  std::optional<Reader> BeginReading(FlightPosition position, bool is_in_flight = true) {
    return log.BeginReading(position, [=] { return is_in_flight; });
  }
  std::optional<Reader> BeginReading(FlightPosition position,
                                     const model::Atomic<bool>& is_in_flight) {
    return log.BeginReading(position, [&] { return is_in_flight.load(); });
  }
  static uint64_t Read(std::optional<Reader>& reader) {
    uint64_t seen = 0;
    while (reader->Next() != nullptr) ++seen;
    return seen;
  }
  void CheckNothingIsLeft(uint64_t appended) {
    MODEL_CHECK(log.IsEmpty(), "no pod is in flight");
    MODEL_CHECK(log.events() == 0, "no pod needs an event");
    MODEL_CHECK(dropped.load() == appended, "each event is dropped once");
  }
};
using Scene = LogScene<LargeLog>;

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
      auto reader = scene.BeginReading(position);
      MODEL_CHECK(reader.has_value(), "no other thread ends the attempt");
      read += scene.Read(reader);
      is_in_pool.store(true);
      if (reads_again) read += scene.Read(reader);
      reader.reset();
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
      auto reader = scene.BeginReading(second);
      MODEL_CHECK(scene.Read(reader) <= 1, "there is one event");
      reader.reset();
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
      auto reader = scene.BeginReading(position, is_in_flight);
      if (!reader) return;
      const uint64_t read = scene.Read(reader);
      MODEL_CHECK(read == 1 || read == 2, "what is held stays");
      reader.reset();
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
      auto reader = scene.BeginReading(position);
      MODEL_CHECK(reader.has_value(), "no other thread ends the attempt");
      scene.Append(7);
      read = scene.Read(reader);
      reader.reset();
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
        auto reader = scene.BeginReading(first);
        MODEL_CHECK(scene.Read(reader) >= 1, "its own event is behind its own node");
        reader.reset();
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

// Keeps two events.
struct SmallLog {
  static constexpr uint32_t kFirstLogBits = 1;
  static constexpr uint32_t kLogEventsMax = 2;
  static constexpr uint32_t kLogTrimMax = 3;
};
using SmallScene = LogScene<SmallLog>;

// What a pod knows of the events, which are numbered from 1 in the order in which they come.
struct Knowledge {
  uint64_t seen = 0;  // A bit an event.
  bool has_missed = false;

  // Reads on until there is nothing, or something was missed.
  void ReadOn(SmallScene::Reader* reader) {
    EventLabel last = 0;
    while (const LoggedEvent* const logged = reader->Next()) {
      const EventLabel label = logged->event.label;
      MODEL_CHECK(last == 0 || label == last + 1, "no event is passed over");
      last = label;
      seen |= uint64_t{1} << label;
    }
    has_missed |= reader->HasMissed();
  }
  bool Has(EventLabel label) const { return has_missed || (seen >> label & 1) != 0; }
};

// No node is lost and none is free twice: the nodes that there are can all be held at once.
void CheckAllNodesAreFree(SmallScene& scene) {
  const uint64_t nodes = scene.log.nodes();
  std::vector<FlightPosition> positions;
  for (uint64_t used = 1; used < nodes; ++used) {
    positions.push_back(scene.Begin());
    scene.Append(1);
  }
  MODEL_CHECK(scene.log.nodes() == nodes, "a node was lost");
  for (const FlightPosition position : positions) scene.End(position);
  // Each operation lets three events go at most.
  for (uint64_t used = 1; used < nodes; ++used) scene.Append(1);
  MODEL_CHECK(scene.log.IsEmpty() && scene.log.events() == 0, "nobody needs an event");
}

// To two preemptions; a weak exchange fails by chance in the smaller tests.
void ExpectAtBorder(const model::Body& body) {
  model::Options options = Named();
  options.preemptions_max = 2;
  options.weak_failures_max = 0;
  model::ExpectExhausted(model::Exhaust(options, body), 300);
}

// A pod fails while so many events come that some of them must go.
model::Body FailMeetsManyEvents(int before, int meanwhile) {
  return [=](model::Trial& trial) {
    SmallScene scene;
    model::Atomic<bool> is_in_pool{false};
    Knowledge known;
    std::vector<bool> found(before + meanwhile + 1, false);
    const FlightPosition position = scene.Begin();
    for (int event = 1; event <= before; ++event) scene.Append(event);
    trial.Thread([&] {
      auto reader = scene.BeginReading(position);
      MODEL_CHECK(reader.has_value(), "no other thread ends the attempt");
      known.ReadOn(&*reader);
      if (reader->HasMissed()) reader->SkipToEnd();
      is_in_pool.store(true);
      known.ReadOn(&*reader);
      reader.reset();
      scene.End(position);
    });
    trial.Thread([&] {
      for (int event = before + 1; event <= before + meanwhile; ++event) {
        // No attempt is in flight that could read it, or it is appended.
        if (!scene.log.IsEmpty()) scene.Append(event);
        MODEL_CHECK(scene.log.events() <= SmallLog::kLogEventsMax, "more is kept than the maximum");
        found[event] = is_in_pool.load();
      }
    });
    trial.Join();
    for (int event = 1; event <= before + meanwhile; ++event) {
      MODEL_CHECK(found[event] || known.Has(event), "the pod missed an event and doesn't know");
    }
    MODEL_CHECK(before + meanwhile > 2 || !known.has_missed, "nothing had to make room");
    CheckAllNodesAreFree(scene);
  };
}
TEST(EventLogModel, FailMeetsMoreEventsThanAreKept) { ExpectAtBorder(FailMeetsManyEvents(2, 2)); }
TEST(EventLogModel, FailMeetsAsManyEventsAsAreKept) { ExpectAtBorder(FailMeetsManyEvents(1, 1)); }

// The first node is passed to make room while its attempt is ended by one thread, and read by
// another, which may not take the end for missed events, nor missed events for the end.
model::Body EndAndReadMeetPassing() {
  return [](model::Trial& trial) {
    SmallScene scene;
    model::Atomic<bool> is_in_flight{true};
    const FlightPosition position = scene.Begin();
    scene.Append(1);
    scene.Append(2);
    trial.Thread([&] {
      is_in_flight.store(false);
      scene.End(position);
    });
    trial.Thread([&] {
      auto reader = scene.BeginReading(position, is_in_flight);
      if (!reader) {
        MODEL_CHECK(!is_in_flight.load(), "the attempt is not over");
        return;
      }
      Knowledge known;
      known.ReadOn(&*reader);
      MODEL_CHECK(known.Has(1) && known.Has(2), "what is held stays, or is known to be missed");
    });
    trial.Thread([&] { scene.Append(3); });
    trial.Join();
    CheckAllNodesAreFree(scene);
  };
}
TEST(EventLogModel, EndAndReadMeetPassing) { ExpectAtBorder(EndAndReadMeetPassing()); }

// Two readers, one of them not the attempt's thread, meet a log that is passed under them.
model::Body TwoReadersMeetPassing() {
  return [](model::Trial& trial) {
    SmallScene scene;
    const FlightPosition position = scene.Begin();
    scene.Append(1);
    for (int thread = 0; thread < 2; ++thread) {
      trial.Thread([&] {
        auto reader = scene.BeginReading(position);
        Knowledge known;
        known.ReadOn(&*reader);
        MODEL_CHECK(known.Has(1), "it was there before");
      });
    }
    trial.Thread([&] {
      scene.Append(2);
      scene.Append(3);
    });
    trial.Join();
    scene.End(position);
    CheckAllNodesAreFree(scene);
  };
}
TEST(EventLogModel, TwoReadersMeetPassing) { ExpectAtBorder(TwoReadersMeetPassing()); }

TEST(EventLogModelSweep, ThreeThreadsReadWhatIsPassed) {
  const auto body = [](model::Trial& trial) {
    SmallScene scene;
    for (int thread = 0; thread < 3; ++thread) {
      trial.Thread([&scene] {
        const FlightPosition first = scene.Begin();
        scene.Append(1);
        const FlightPosition second = scene.Begin();
        scene.Append(2);
        auto reader = scene.BeginReading(first);
        uint64_t seen = scene.Read(reader);
        MODEL_CHECK(seen >= 2 || reader->HasMissed(), "its own events are behind its own node");
        reader->SkipToEnd();
        scene.Append(3);
        seen = scene.Read(reader);
        MODEL_CHECK(seen >= 1 || reader->HasMissed(), "its own event is behind the end");
        scene.End(first);
        reader = scene.BeginReading(second);
        scene.End(second);
        static_cast<void>(scene.Read(reader));
      });
    }
    trial.Join();
    CheckAllNodesAreFree(scene);
  };
  const model::Report report = model::Sweep(Named(), 20'000, body);
  EXPECT_TRUE(report.passed()) << report;
}

void ExpectNoStalls(const std::vector<model::Body>& bodies, uint32_t weak_failures_max) {
  int number = 0;
  for (const model::Body& body : bodies) {
    model::Options options = Named(std::to_string(number++));
    options.preemptions_max = 1;
    options.weak_failures_max = weak_failures_max;
    const model::Report report = model::ExhaustStalls(options, body);
    model::ExpectNoStall(report, 10);
  }
}

TEST(EventLogModelStall, FrozenThreadStopsNoOther) {
  ExpectNoStalls({FailMeetsEvent(true), EndsMeet(), EndMeetsAppendAndBegin(), ReadMeetsEnd(),
                  BeginMeetsAppend()},
                 1);
}
TEST(EventLogModelStall, FrozenThreadStopsNoOtherAtTheBorder) {
  ExpectNoStalls({FailMeetsManyEvents(2, 2), EndAndReadMeetPassing()}, 0);
}

}  // namespace
}  // namespace schedq
