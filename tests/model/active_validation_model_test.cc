// Goal: what a reader of the active queue reads early, and finds valid by a later look at one word,
// was there: a run's oldest timestamp, the first entry of a heap's front, the entry that a pop
// leaves.
// Method: one thread reads and looks again, while another one takes what is there and uses the same
// memory for something else. Exhaustive, with stale reads: the second look is a sequentially
// consistent load, which by itself validates no weaker load before it.
#include <gtest/gtest.h>

#include <cstdint>

#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/active/active_queue.h"
#include "engine/lockfree/active/heap_parts.h"
#include "engine/lockfree/active/sorted_run.h"
#include "tests/model/active_queue_model.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

void ExpectRight(const model::Body& body, uint32_t preemptions_max, uint32_t stale_reads_max) {
  model::Options options = model::OptionsOfTest();
  options.preemptions_max = preemptions_max;
  options.stale_reads_max = stale_reads_max;
  model::ExpectExhausted(model::Exhaust(options, body), 50);
}

TEST(ActiveValidationModel, EntryIsThatOfTheHead) {
  ExpectRight(
      [](model::Trial& trial) {
        using Run = SortedRun<model::Atomic, 2>;
        Run::Pool segments(1);
        Run run, other;
        const ActiveEntry first[] = {{0, 1, 1}, {0, 2, 2}};
        run.TryAppend(segments, first, 2);
        trial.Thread([&] {
          run.TryDropMany(segments, run.Look(), 1);
          run.TryDropMany(segments, run.Look(), 1);
          const ActiveEntry late{0, 100, 100};
          other.TryAppend(segments, &late, 1);
        });
        trial.Thread([&] {
          const auto view = run.Look();
          if (view.IsEmpty()) return;
          const int64_t timestamp_ns = run.TimestampAt(segments, view);
          ActiveEntry seen;
          run.ReadMany(segments, view, &seen, 1);
          if (run.Look().head != view.head) return;
          const int64_t number = static_cast<int64_t>(view.Position()) + 1;
          MODEL_CHECK(timestamp_ns == number, "the timestamp of the entry at the head");
          MODEL_CHECK(seen.timestamp_ns == number && seen.ticket == static_cast<uint64_t>(number),
                      "the entry at the head");
        });
        trial.Join();
      },
      3, 2);
}

TEST(ActiveValidationModel, FirstOfTheFrontIsWhatTheWordNames) {
  ExpectRight(
      [](model::Trial& trial) {
        using Front = HeapFront<model::Atomic, 8, 1>;
        Front front;
        front.Fill(HeapScratch<8>(), 0);
        const ActiveEntry before{1, 1, 1}, after{2, 9, 2};
        front.Push(before);
        const uint64_t word_before = front.word().load();
        trial.Thread([&] {
          const uint64_t word = front.word().load();
          front.TryTake(word, front.FirstAt(word));
          front.Push(after);
        });
        trial.Thread([&] {
          const uint64_t word = front.word().load();
          if (front.IsDrained(word)) return;
          const ActiveEntry first = front.FirstAt(word).entry;
          if (front.word().load() != word) return;
          const ActiveEntry& there = word == word_before ? before : after;
          MODEL_CHECK(first == there, "the first entry of the word");
        });
        trial.Join();
      },
      3, 2);
}

struct LeavesEntry : TakesEntry {
  Consent Ask(const ActiveEntry& first) {
    entry = first;
    return Consent::kLeave;
  }
};
TEST(ActiveValidationModel, PopLeavesOnlyWhatWasThere) {
  ExpectRight(
      [](model::Trial& trial) {
        ActiveQueue<model::Atomic, HeapShape> queue;
        const ActiveEntry entries[] = {{0, 5, 1}, {1, 1, 2}, {2, 9, 3}};
        queue.Push(entries[0]);  // Stays, so that the pop ends with an answer to its question.
        queue.Push(entries[1]);
        trial.Thread([&] {
          queue.TryPop();
          queue.Push(entries[2]);
        });
        trial.Thread([&] {
          LeavesEntry taker;
          if (queue.TryTake(taker) != Taking::kLeft) return;
          bool was_there = false;
          for (const ActiveEntry& entry : entries) was_there |= taker.entry == entry;
          MODEL_CHECK(was_there, "a pop leaves an entry and not parts of two");
        });
        trial.Join();
      },
      2, 0);
}

}  // namespace
}  // namespace schedq
