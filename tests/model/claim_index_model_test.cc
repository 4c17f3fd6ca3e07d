// Goal: the claim index's own code misses no pod that stays, mixes up no two claims that share a
// number one after the other, and never lets a pod and its claim miss each other.
// Method: two threads change and read the index on every schedule within bounds, and on many
// beyond, with stale reads. The index is dimensioned so that numbers are used again at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "hints/claims/claim_index-inl.h"
#include "hints/plugin.h"
#include "tests/support/model/expect.h"
#include "tests/support/model/explore.h"

namespace schedq {
namespace {

using ModelInterner = BasicInterner<model::Atomic>;
using ModelIndex = BasicClaimIndex<model::Atomic>;

struct Stage {
  ModelInterner pods{/*first_bits=*/1};
  ModelIndex index{&pods, /*first_bits=*/1};
};

Pod MakePod(const std::string& name, ClaimNames claims = {}) {
  Pod pod;
  pod.namespace_name = "ns";
  pod.name = name;
  pod.claims = std::move(claims);
  return pod;
}

bool IsListed(const Stage& stage, const std::string& claim, PodId pod) {
  PodList listed;
  stage.index.Lookup("ns", claim, &listed);
  return std::count(listed.begin(), listed.end(), pod) > 0;
}

// One pod of a shared claim stays while another comes and goes.
void AnotherComesAndGoes(model::Trial& trial) {
  Stage stage;
  const Pod stays = MakePod("stays", {"c"});
  const Pod comes = MakePod("comes", {"c"});
  stage.index.Update(nullptr, &stays);
  const PodId id = stage.pods.Find("ns", "stays").value();
  trial.Thread([&] {
    stage.index.Update(nullptr, &comes);
    stage.index.Update(&comes, nullptr);
  });
  trial.Thread([&] { MODEL_CHECK(IsListed(stage, "c", id), "a pod that stays is always listed"); });
  trial.Join();
  stage.index.Update(&stays, nullptr);
  MODEL_CHECK(stage.index.size() == 0 && stage.pods.size() == 0, "all was given back");
}

// One claim's number goes to another claim while the first is asked about.
void ANumberIsUsedAgain(model::Trial& trial) {
  Stage stage;
  const Pod old_pod = MakePod("old", {"a"});
  const Pod new_pod = MakePod("new", {"b"});
  stage.index.Update(nullptr, &old_pod);
  const PodId new_id = stage.pods.Acquire("ns", "new");
  trial.Thread([&] {
    stage.index.Update(&old_pod, nullptr);
    stage.index.Update(nullptr, &new_pod);
    stage.index.Insert("ns", "b");
  });
  trial.Thread([&] {
    MODEL_CHECK(!IsListed(stage, "a", new_id), "a claim's pods are its own");
    MODEL_CHECK(!stage.index.Exists("ns", "a"), "and so is its existence");
  });
  trial.Join();
  MODEL_CHECK(IsListed(stage, "b", new_id) && stage.index.Exists("ns", "b"), "what came is there");
}

// A pod is given its claim and asks for it, while the claim comes to exist and asks for its pods:
// if both missed the other, no event would requeue the pod.
void PodMeetsClaim(model::Trial& trial) {
  Stage stage;
  const Pod before = MakePod("p");
  const Pod after = MakePod("p", {"c"});
  const PodId id = stage.pods.Acquire("ns", "p");
  bool pod_saw_claim = false;
  bool claim_saw_pod = false;
  trial.Thread([&] {
    stage.index.Update(&before, &after);
    pod_saw_claim = stage.index.Exists("ns", "c");
  });
  trial.Thread([&] {
    stage.index.Insert("ns", "c");
    claim_saw_pod = IsListed(stage, "c", id);
  });
  trial.Join();
  MODEL_CHECK(pod_saw_claim || claim_saw_pod, "one of the two finds the other");
}

// More pods than a record's own places, added at once.
void BlocksGrow(model::Trial& trial) {
  Stage stage;
  std::vector<Pod> pods;
  for (const char* name : {"p0", "p1", "p2", "p3", "p4", "p5"}) {
    pods.push_back(MakePod(name, {"c"}));
  }
  for (size_t i = 0; i < 4; ++i) stage.index.Update(nullptr, &pods[i]);
  for (size_t thread = 0; thread < 2; ++thread) {
    trial.Thread([&, thread] {
      stage.index.Update(nullptr, &pods[4 + thread]);
      const PodId id = stage.pods.Find("ns", pods[4 + thread].name).value();
      MODEL_CHECK(IsListed(stage, "c", id), "what a thread added it finds");
      stage.index.Update(&pods[thread], nullptr);
    });
  }
  trial.Join();
  PodList listed;
  stage.index.Lookup("ns", "c", &listed);
  MODEL_CHECK(listed.size() == 4, "two came and two went");
}

// What a thread does to one place at a time has few steps, but each goes through two interners.
constexpr int kSweeps = 20000;

TEST(ClaimIndexModel, AnotherComesAndGoesOnEverySchedule) {
  const model::Report report = model::Exhaust(
      {.name = "another", .preemptions_max = 2, .stale_reads_max = 1, .weak_failures_max = 0},
      AnotherComesAndGoes);
  model::ExpectExhausted(report, 1000);
}

TEST(ClaimIndexModel, PodMeetsClaimOnEverySchedule) {
  const model::Report report = model::Exhaust({.name = "pod meets claim",
                                               .preemptions_max = 2,
                                               .stale_reads_max = 1,
                                               .weak_failures_max = 0},
                                              PodMeetsClaim);
  model::ExpectExhausted(report, 1000);
}

TEST(ClaimIndexModel, ANumberIsUsedAgainOnSeededSchedules) {
  const model::Report report =
      model::Sweep({.name = "number used again"}, kSweeps, ANumberIsUsedAgain);
  EXPECT_TRUE(report.passed()) << report;
}

TEST(ClaimIndexModel, BlocksGrowOnSeededSchedules) {
  const model::Report report =
      model::Sweep({.name = "blocks grow", .steps_max = 20000}, kSweeps, BlocksGrow);
  EXPECT_TRUE(report.passed()) << report;
}

// Lock-freedom: whichever thread is frozen at whichever step, the other finishes.
TEST(ClaimIndexModel, NoThreadWaitsForAFrozenOne) {
  const model::Report report = model::ExhaustStalls(
      {.name = "frozen", .preemptions_max = 0, .stale_reads_max = 0, .weak_failures_max = 0},
      PodMeetsClaim);
  EXPECT_TRUE(report.passed()) << report;
  EXPECT_GT(report.freezes, 50u);
}

}  // namespace
}  // namespace schedq
