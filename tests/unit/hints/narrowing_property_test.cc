// Goal: with honest hints, narrowing changes the work and never the outcome.
// Method: seeded random worlds of pods, claims and plugins; every event is judged twice, once for
// all rejected pods and once for the narrowed ones only, and the verdicts must be equal. Fewer
// judgements must have been made, or the test shows nothing. The canary is a plugin whose
// PreQueueingHint leaves out pods that its hint would queue: the comparison must notice it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/base/names/interner.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "hints/judge.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/plugins/claim_hints.h"
#include "hints/registry.h"
#include "hints/world.h"
#include "tests/unit/hints/test_world.h"

namespace schedq::hints_test {
namespace {

constexpr int kPods = 40;
constexpr int kClaims = 12;
constexpr int kWorlds = 60;
constexpr int kEventsPerWorld = 30;

Hint QueueIfNamed(const Pod& pod, const ObjectChange& change) {
  return NamesClaim(pod, *change.Latest()) ? Hint::kQueue : Hint::kSkip;
}

class RandomWorld {
 public:
  explicit RandomWorld(uint64_t seed) : random_(seed), world_(&names_) {
    for (int i = 0; i < kPods; ++i) AddPod(i);
  }
  ~RandomWorld() {
    for (const JudgedPod& judged : judged_) names_.Release(judged.id);
  }

  const World* world() const { return &world_; }
  uint64_t judged_count() const { return judged_count_; }
  uint64_t full_count() const { return full_count_; }

  // Every pod gets random rejectors among the plugins.
  void Reject(int plugin_count) {
    for (JudgedPod& judged : judged_) {
      const uint64_t all = (uint64_t{1} << plugin_count) - 1;
      judged.unschedulable = PluginSet(random_() & all);
      judged.pending = PluginSet(random_() & random_() & all);
    }
  }

  // Verdicts are the same with narrowing on and off.
  bool NarrowingChangesNothing(const RequeueJudge& judge) {
    const ClusterEvent event = RandomEvent();
    const ObjectChange change = RandomChange(event.action);
    std::vector<Verdict> off(judged_.size());
    judge.Judge(judged_, event, change, off);

    Narrowing narrowing;
    judge.Narrow(event, change, &narrowing);
    for (size_t i = 0; i < judged_.size(); ++i) {
      JudgedPod judged = judged_[i];
      const PluginSet rejectors = judged.unschedulable | judged.pending;
      if (rejectors.empty()) continue;  // Such a pod is never in the pool.
      judged.asked = AskedOf(narrowing, judged.id, rejectors);
      ++full_count_;
      Verdict on = Verdict::kSkip;
      if (judged.asked != 0) {
        ++judged_count_;
        on = JudgeOne(judge, judged, event, change);
      }
      if (on != off[i]) return false;
    }
    return true;
  }

 private:
  void AddPod(int number) {
    Pod pod = MakePod("p" + std::to_string(number));
    while (random_() % 2 == 0) pod.claims.push_back(RandomClaim());
    if (random_() % 3 == 0) pod.generated_claims = {{"entry", RandomClaim()}};
    pods_.push_back(std::make_unique<Pod>(pod));
    world_.PodChanged(nullptr, pods_.back().get());
    judged_.push_back({pods_.back().get(), names_.Acquire("ns/" + pod.name), {}, {}});
  }

  // What an engine asks a pod of the pool, given the narrowing.
  static RegistrationMask AskedOf(const Narrowing& narrowing, PodId id, PluginSet rejectors) {
    RegistrationMask asked = 0;
    if (!(rejectors & narrowing.plugins_of_all).empty()) asked |= narrowing.asked_of_all;
    for (const auto& listed : narrowing.pods) {
      if (listed.pod == id) asked |= listed.asked;
    }
    return asked;
  }

  std::string RandomClaim() { return "c" + std::to_string(random_() % kClaims); }

  ClusterEvent RandomEvent() {
    constexpr Action kActions[] = {Action::kAdd, Action::kUpdate, Action::kDelete};
    return MakeEvent(Resource::kResourceClaim, kActions[random_() % 3]);
  }

  ObjectChange RandomChange(Action action) {
    const std::string claim = RandomClaim();
    ObjectChange change;
    if (action != Action::kAdd) change.before = ViewOfClaim(claim, random_() % 4 == 0);
    if (action != Action::kDelete) change.after = ViewOfClaim(claim, random_() % 4 == 0, 1);
    // A claim may be known, so that hints which wait for all claims have something to say.
    if (action == Action::kDelete) {
      world_.ClaimGone("ns", claim);
    } else {
      world_.ClaimSeen("ns", claim);
    }
    return change;
  }

  std::mt19937_64 random_;
  Interner names_;
  World world_;
  std::vector<std::unique_ptr<Pod>> pods_;
  std::vector<JudgedPod> judged_;
  uint64_t judged_count_ = 0;
  uint64_t full_count_ = 0;
};

// Honest plugins of every sort: with a list, with all pods, with an error, without narrowing, with
// two registrations, and a wildcard.
std::vector<Plugin> HonestPlugins(const World* world) {
  const auto all = [](const ObjectChange&, PodList*) { return PreHint::kAllPods; };
  const auto error = [](const ObjectChange&, PodList*) { return PreHint::kError; };
  Plugin two = ClaimPlugin("Two", QueueIfNamed, PodsOfClaim(world));
  two.events.push_back({Resource::kResourceClaim, Action::kDelete, {}, {}});
  Plugin wildcard;
  wildcard.name = "Wildcard";
  wildcard.events = {{Resource::kWildcard, Action::kAll, QueueIfNamed, {}}};
  return {DynamicResourcesPlugin(world),
          ClaimPlugin("List", QueueIfNamed, PodsOfClaim(world)),
          ClaimPlugin("All", QueueIfNamed, all),
          ClaimPlugin("Error", QueueIfNamed, error),
          ClaimPlugin("None", Answer(Hint::kError)),
          two,
          wildcard};
}

TEST(HintsNarrowingPropertyTest, HonestHintsGiveTheSameVerdictsWithNarrowingOnAndOff) {
  uint64_t judged = 0;
  uint64_t full = 0;
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    RandomWorld world(seed);
    std::vector<Plugin> plugins = HonestPlugins(world.world());
    // Some worlds have few plugins, so that narrowing has room to leave pods out.
    plugins.resize(1 + seed % plugins.size());
    const PluginRegistry registry = BuildOrDie(plugins);
    const PluginJudge judge(registry);
    for (int i = 0; i < kEventsPerWorld; ++i) {
      world.Reject(registry.size());
      ASSERT_TRUE(world.NarrowingChangesNothing(judge)) << "seed " << seed << ", event " << i;
    }
    judged += world.judged_count();
    full += world.full_count();
  }
  EXPECT_GT(judged, 0u);
  EXPECT_LT(judged, full * 9 / 10);
}

TEST(HintsNarrowingPropertyTest, CanaryADishonestPairIsNoticed) {
  RandomWorld world(1);
  const PluginRegistry registry =
      BuildOrDie({ClaimPlugin("Dishonest", Answer(Hint::kQueue), PodsOfClaim(world.world()))});
  const PluginJudge judge(registry);
  bool noticed = false;
  for (int i = 0; i < kEventsPerWorld && !noticed; ++i) {
    world.Reject(registry.size());
    noticed = !world.NarrowingChangesNothing(judge);
  }
  EXPECT_TRUE(noticed);
}

}  // namespace
}  // namespace schedq::hints_test
