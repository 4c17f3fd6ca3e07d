// Goal: a slot's word and its record belong together for a thread that pinned them, an exchange on
// a pinned word succeeds only if nothing changed, records are used again and never while a thread
// reads them, with a reference or within a scan; a mark of the rejector index is there before its
// pod is.
// Method: readers and writers of one slot, exhaustive to three preemptions, in a pool so small that
// each freed record is used again at once (the pool's list is last in, first out: ABA). Records
// hold a pod whose memory the model's heap watches, so one too few or too many ends is seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/lockfree/pods/pod_record.h"
#include "engine/lockfree/pods/pod_table.h"
#include "engine/lockfree/pods/rejector_index.h"
#include "engine/place.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using Table = PodTable<model::Atomic>;

model::Options Named(const std::string& suffix = "") {
  model::Options options = model::OptionsOfTest(suffix);
  options.stale_reads_max = 1;
  return options;
}

void ExpectRight(const model::Body& body, uint32_t preemptions_max = 3) {
  model::Options options = Named();
  options.preemptions_max = preemptions_max;
  const model::Report report = model::Exhaust(options, body);
  model::ExpectExhausted(report, 100);
}

// Two fields that always say the same.
PodFacts FactsOf(uint32_t number) {
  PodFacts facts;
  auto pod = std::make_shared<Pod>();
  pod->priority = static_cast<int32_t>(number);
  facts.pod = pod;
  facts.fields.attempts = number;
  return facts;
}

void CheckBelongsTogether(const Table::Pinned& pinned) {
  const PodFacts& facts = pinned.facts();
  MODEL_CHECK(facts.pod->priority == static_cast<int32_t>(facts.fields.attempts), "one version");
}

// In place: the word may come back, with another record of the same number.
bool TryCount(Table& table) {
  const Table::Pinned pinned = table.Pin(0);
  if (!pinned) return false;
  CheckBelongsTogether(pinned);
  SlotWord after = pinned.word();
  // Made first and changed then, as the engine does it.
  after.record = table.records().Make(FactsOf(0));
  table.records().MutableAt(after.record) = FactsOf(pinned.facts().fields.attempts + 1);
  const bool is_done = table.Exchange(0, pinned, after);
  if (!is_done) table.records().Release(after.record);
  return is_done;
}

void Put(Table& table) {
  table.Ensure(0);
  const Table::Pinned pinned = table.Pin(0);
  SlotWord word = pinned.word();
  word.version_or_position += PodFacts::kVersionStep;
  word.record = table.records().Make(FactsOf(0));
  MODEL_CHECK(table.Exchange(0, pinned, word), "no other thread is here");
}

void Count(Table& table) {
  while (!TryCount(table)) {
  }
}

TEST(PodTableModel, CountsAreNotLost) {
  ExpectRight([](model::Trial& trial) {
    Table table(1);
    Put(table);
    trial.Thread([&] { Count(table); });
    trial.Thread([&] { Count(table); });
    trial.Join();
    MODEL_CHECK(table.Pin(0).facts().fields.attempts == 2, "both counted");
  });
}

TEST(PodTableModel, ReaderSeesOneVersionWhileRecordsComeBack) {
  ExpectRight([](model::Trial& trial) {
    Table table(1);
    Put(table);
    trial.Thread([&] {
      const Table::Pinned pinned = table.Pin(0);
      CheckBelongsTogether(pinned);
      const uint32_t attempts = pinned.facts().fields.attempts;
      CheckBelongsTogether(table.Pin(0));
      MODEL_CHECK(pinned.facts().fields.attempts == attempts, "what is pinned does not change");
    });
    trial.Thread([&] {
      Count(table);
      Count(table);
    });
    trial.Join();
  });
}

TEST(PodTableModel, LeavingMeetsCounting) {
  ExpectRight([](model::Trial& trial) {
    Table table(1);
    Put(table);
    trial.Thread([&] { static_cast<void>(TryCount(table)); });
    trial.Thread([&] {
      for (bool is_gone = false; !is_gone;) {
        const Table::Pinned pinned = table.Pin(0);
        SlotWord after = pinned.word();
        after.record = kNoRecord;
        is_gone = table.Exchange(0, pinned, after);
      }
      Put(table);
    });
    trial.Join();
    MODEL_CHECK(table.Pin(0).facts().fields.attempts <= 1, "a count of the old one is gone");
  });
}

TEST(PodTableModel, OlderAttemptsLiveAsLongAsTheirRecord) {
  ExpectRight([](model::Trial& trial) {
    Table table(1);
    Put(table);
    trial.Thread([&] {
      const Table::Pinned pinned = table.Pin(0);
      if (pinned.facts().older != kNoRecord) {
        MODEL_CHECK(table.records().At(pinned.facts().older).pod != nullptr, "it is there");
      }
    });
    trial.Thread([&] {
      {
        const Table::Pinned pinned = table.Pin(0);
        PodFacts facts = FactsOf(5);
        facts.older = pinned.word().record;
        table.records().Retain(facts.older);
        SlotWord after = pinned.word();
        after.record = table.records().Make(std::move(facts));
        MODEL_CHECK(table.Exchange(0, pinned, after), "no other thread changes it");
      }
      Count(table);
    });
    trial.Join();
  });
}

TEST(PodTableModel, TableGrowsUnderReaders) {
  ExpectRight([](model::Trial& trial) {
    Table table(0);
    const auto grow = [&](PodId id) {
      table.Ensure(id);
      MODEL_CHECK(table.limit() > id, "the slot may be used");
      MODEL_CHECK(!table.Pin(id), "it is empty");
    };
    trial.Thread([&] { grow(1); });
    trial.Thread([&] {
      for (PodId id = 0; id < table.limit(); ++id) MODEL_CHECK(!table.Pin(id), "it is empty");
      grow(3);
    });
    trial.Join();
  });
}

bool IsAny(const SlotWord&) { return true; }

TEST(PodTableModel, ScanReadsWhileRecordsComeBack) {
  ExpectRight(
      [](model::Trial& trial) {
        Table table(1);
        Put(table);
        trial.Thread([&] {
          Table::Scan scan(table);
          {
            const Table::Pinned first = scan.LookIf(0, IsAny);
            CheckBelongsTogether(first);
            const uint32_t attempts = first.facts().fields.attempts;
            CheckBelongsTogether(scan.LookIf(0, IsAny));
            MODEL_CHECK(first.facts().fields.attempts == attempts,
                        "what is scanned does not change");
          }
          scan.Renew();
          CheckBelongsTogether(scan.LookIf(0, IsAny));
        });
        trial.Thread([&] {
          Count(table);
          Count(table);
        });
        trial.Join();
      },
      2);
}

TEST(PodTableModel, ScansOfTwoThreadsMeetAWriter) {
  ExpectRight(
      [](model::Trial& trial) {
        Table table(1);
        Put(table);
        for (int reader = 0; reader < 2; ++reader) {
          trial.Thread([&] {
            const Table::Scan scan(table);
            CheckBelongsTogether(scan.LookIf(0, IsAny));
          });
        }
        trial.Thread([&] { Count(table); });
        trial.Join();
      },
      1);
}

// A scan exchanges the word that it has seen: then no other thread has.
TEST(PodTableModel, ExchangeWithinAScanMeetsCounting) {
  ExpectRight(
      [](model::Trial& trial) {
        Table table(1);
        Put(table);
        bool is_moved = false;
        trial.Thread([&] {
          const Table::Scan scan(table);
          const Table::Pinned pinned = scan.LookIf(0, IsAny);
          SlotWord after = pinned.word();
          after.queued = Place::kActive;
          is_moved = table.Exchange(0, pinned, after);
        });
        trial.Thread([&] {
          Count(table);
          Count(table);
        });
        trial.Join();
        MODEL_CHECK(table.Pin(0).facts().fields.attempts == 2, "no count is lost");
        MODEL_CHECK(is_moved == (table.Peek(0).queued == Place::kActive), "nor is the move");
      },
      2);
}

TEST(PodTableModelCanary, StateThatIsUsedAfterItsScanIsCaught) {
  const model::Report report = model::Exhaust(Named(), [](model::Trial& trial) {
    Table table(1);
    Put(table);
    trial.Thread([&] {
      std::optional<Table::Scan> scan(table);
      const Table::Pinned pinned = scan->LookIf(0, IsAny);
      scan.reset();
      CheckBelongsTogether(pinned);
    });
    trial.Thread([&] {
      Count(table);
      Count(table);
    });
    trial.Join();
  });
  EXPECT_FALSE(report.passed()) << report;
}

// Of all versions of a pod that come and go, a scan that does not get on holds the one that was
// there when it began.
TEST(PodTableModel, StalledScanHoldsWhatWasThereWhenItBegan) {
  Table table(1);
  Put(table);
  std::vector<std::weak_ptr<const Pod>> versions;
  const auto count = [&] {
    Count(table);
    versions.push_back(table.Pin(0).facts().pod);
  };
  const auto alive = [&] {
    return std::count_if(versions.begin(), versions.end(),
                         [](const auto& version) { return !version.expired(); });
  };
  count();
  {
    const Table::Scan scan(table);
    const Table::Pinned first = scan.LookIf(0, IsAny);
    for (int i = 0; i < 100; ++i) count();
    EXPECT_EQ(alive(), 2) << "the held one and the newest";
    CheckBelongsTogether(first);
    EXPECT_EQ(first.facts().pod, versions[0].lock());
    const Table::Pinned younger = scan.LookIf(0, IsAny);
    for (int i = 0; i < 100; ++i) count();
    EXPECT_EQ(alive(), 3) << "what is younger than the scan was pinned";
    CheckBelongsTogether(younger);
  }
  EXPECT_EQ(alive(), 1) << "the end of the scan lets go";
}

// Wherever the rows end, behind which slots do not lie behind each other.
TEST(PodTableModel, GlanceVisitsWhatIsChosenAndInThePool) {
  constexpr PodId kSlots = 192;
  constexpr uint64_t kChosen = 0xf0f0'a5a5'ffff'0181;
  for (const uint32_t row_bits : {0u, 1u, 4u, 6u, 10u}) {
    Table table(row_bits);
    for (PodId id = 0; id < kSlots; ++id) {
      table.Ensure(id);
      PodFacts facts = FactsOf(id);
      facts.id = id;
      const Place place = id % 3 == 0 ? Place::kGated : Place::kUnschedulable;
      const SlotWord word = {.record = table.records().Make(std::move(facts)),
                             .queued = id % 5 == 0 ? Place::kActive : place};
      ASSERT_TRUE(table.Exchange(id, table.Pin(id), word));
    }
    const Table::Scan scan(table);
    for (PodId first = 0; first < kSlots; first += 64) {
      std::vector<PodId> expected;
      for (PodId n = 0; n < 64; ++n) {
        if ((kChosen >> n & 1) != 0 && (first + n) % 5 != 0) expected.push_back(first + n);
      }
      std::vector<PodId> visited;
      scan.GlanceAtPool(first, kChosen, [&](PodId id, const Table::Scan::Glance& glance) {
        ASSERT_TRUE(glance.IsHeldIn(scan.era()));
        EXPECT_EQ(glance.State().facts().id, id);
        visited.push_back(id);
      });
      EXPECT_EQ(visited, expected) << "rows of 2^" << row_bits;
    }
  }
}

void ExpectNobodyIsStopped(const model::Body& body) {
  model::Options options = Named();
  options.preemptions_max = 1;
  const model::Report report = model::ExhaustStalls(options, body);
  model::ExpectNoStall(report, 10);
}

TEST(PodTableModelStall, FrozenScanOrWriterStopsNoOther) {
  ExpectNobodyIsStopped([](model::Trial& trial) {
    Table table(1);
    Put(table);
    trial.Thread([&] {
      Table::Scan scan(table);
      CheckBelongsTogether(scan.LookIf(0, IsAny));
      scan.Renew();
    });
    trial.Thread([&] { Count(table); });
    trial.Join();
  });
}

TEST(PodTableModelStall, FrozenThreadStopsNoOther) {
  ExpectNobodyIsStopped([](model::Trial& trial) {
    Table table(1);
    Put(table);
    trial.Thread([&] { Count(table); });
    trial.Thread([&] { Count(table); });
    trial.Join();
  });
}

TEST(RejectorIndexModel, MarksOfNeighboursStayAndAreSeenWithTheirPod) {
  ExpectRight([](model::Trial& trial) {
    RejectorIndex<model::Atomic> index(0);
    model::Atomic<bool> is_in_pool{false};
    model::Atomic<bool> is_logged{false};
    bool knows_of_event = false;
    bool is_found = false;
    index.Ensure(8);
    trial.Thread([&] {
      index.Mark(5, PluginSet::Of(1));
      is_in_pool.store(true);
      knows_of_event = is_logged.load();
    });
    trial.Thread([&] {
      index.Mark(6, PluginSet::Of(1));
      is_logged.store(true);
      index.ForEach(PluginSet::Of(1), 8,
                    [&](PodId id) { is_found |= id == 5 && is_in_pool.load(); });
    });
    trial.Join();
    MODEL_CHECK(knows_of_event || is_found, "the pod finds the event, or is found");
    uint32_t marks = 0;
    index.ForEach(PluginSet::Of(1), 8, [&](PodId) { ++marks; });
    MODEL_CHECK(marks == 2, "both marks stay");
  });
}

}  // namespace
}  // namespace schedq
