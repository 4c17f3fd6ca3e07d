// Goal: a node's nominations are found while they last, none is found on another node, and none is
// lost or kept for ever.
// Method: nominations that begin and end meet each other and readers, exhaustive to two preemptions
// with stale reads, on so few entries that each is used again at once; then seeds. In the whole
// engine: an Add and an Update that name a node meet others that change the pod.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/lockfree/pods/nomination_index.h"
#include "engine/lockfree/pods/pod_record.h"
#include "engine/pod_key.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using Index = NominationIndex<model::Atomic>;

model::Options Named(const std::string& suffix = "") {
  model::Options options = model::OptionsOfTest(suffix);
  options.preemptions_max = 2;
  options.stale_reads_max = 1;
  options.weak_failures_max = 0;
  return options;
}

bool IsOn(Index& index, const std::string& node, PodId pod, const Nomination& nomination) {
  const std::vector<Index::Entry> found = index.On(node);
  return std::count(found.begin(), found.end(), Index::Entry{pod, nomination}) == 1;
}
void CheckNoneOn(Index& index, const std::string& node) {
  MODEL_CHECK(index.On(node).empty(), "a nomination that has ended is found");
}

// Two pods come to a node and go, while a third one stays there.
model::Body BeginsAndEndsMeet() {
  return [](model::Trial& trial) {
    Index index(1);
    const Nomination stays = *index.Begin(9, "a");
    for (PodId pod = 0; pod < 2; ++pod) {
      trial.Thread([&index, pod] {
        const Nomination nomination = *index.Begin(pod, "a");
        MODEL_CHECK(IsOn(index, "a", pod, nomination), "it is there");
        index.End(pod, nomination);
        MODEL_CHECK(!IsOn(index, "a", pod, nomination), "it has ended");
      });
    }
    trial.Join();
    MODEL_CHECK(index.On("a").size() == 1 && IsOn(index, "a", 9, stays), "the third one stays");
    MODEL_CHECK(index.entries() <= 5, "entries are used again");
    index.End(9, stays);
    CheckNoneOn(index, "a");
  };
}

// Entries of one node are used for another while a reader walks.
model::Body ReaderMeetsReuse() {
  return [](model::Trial& trial) {
    Index index(1);
    const Nomination stays = *index.Begin(9, "a");
    const Nomination goes = *index.Begin(1, "a");
    trial.Thread([&] {
      index.End(1, goes);
      const Nomination elsewhere = *index.Begin(1, "b");
      MODEL_CHECK(IsOn(index, "b", 1, elsewhere), "it is there");
      index.End(1, elsewhere);
    });
    trial.Thread([&] {
      for (const Index::Entry& entry : index.On("a")) {
        MODEL_CHECK(entry.pod == 9 || entry.nomination == goes, "it is on another node");
      }
      MODEL_CHECK(IsOn(index, "a", 9, stays), "who stays is found");
      MODEL_CHECK(index.NodeName(9, stays) == "a", "who stays has a node");
      const std::optional<std::string> name = index.NodeName(1, goes);
      MODEL_CHECK(!name || *name == "a", "it is on its node, or has ended");
    });
    trial.Join();
    index.End(9, stays);
    CheckNoneOn(index, "a");
    CheckNoneOn(index, "b");
  };
}

// A node's number passes to another node.
model::Body NumberMeetsReader() {
  return [](model::Trial& trial) {
    Index index(1);
    const Nomination first = *index.Begin(1, "a");
    trial.Thread([&] {
      index.End(1, first);
      const Nomination second = *index.Begin(2, "b");
      index.End(2, second);
    });
    trial.Thread([&] {
      for (const Index::Entry& entry : index.On("a")) {
        MODEL_CHECK(entry == (Index::Entry{1, first}), "it is another node's");
      }
    });
    trial.Join();
    CheckNoneOn(index, "a");
    CheckNoneOn(index, "b");
  };
}

void ExpectRight(const model::Body& body) {
  model::ExpectExhausted(model::Exhaust(Named(), body), 100);
}
TEST(NominationIndexModel, BeginsAndEndsMeet) { ExpectRight(BeginsAndEndsMeet()); }
TEST(NominationIndexModel, ReaderMeetsReuse) { ExpectRight(ReaderMeetsReuse()); }
TEST(NominationIndexModel, NumberMeetsReader) { ExpectRight(NumberMeetsReader()); }

TEST(NominationIndexModelSweep, PodsMoveBetweenTwoNodes) {
  const auto body = [](model::Trial& trial) {
    Index index(1);
    for (PodId pod = 0; pod < 3; ++pod) {
      trial.Thread([&index, pod] {
        Nomination old;
        for (int i = 0; i < 3; ++i) {
          const std::string node = (pod + i) % 2 == 0 ? "a" : "b";
          const Nomination nomination = *index.Begin(pod, node);
          MODEL_CHECK(IsOn(index, node, pod, nomination), "it is there");
          index.End(pod, old);
          old = nomination;
        }
        index.End(pod, old);
      });
    }
    trial.Join();
    CheckNoneOn(index, "a");
    CheckNoneOn(index, "b");
    MODEL_CHECK(index.entries() <= 12, "entries are used again");
  };
  const model::Report report = model::Sweep(Named(), 10'000, body);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(NominationIndexModelStall, FrozenThreadStopsNoOther) {
  int number = 0;
  for (const model::Body& body : {BeginsAndEndsMeet(), ReaderMeetsReuse(), NumberMeetsReader()}) {
    model::Options options = Named(std::to_string(number++));
    options.preemptions_max = 1;
    model::ExpectNoStall(model::ExhaustStalls(options, body), 10);
  }
}

}  // namespace
}  // namespace schedq
