// Goal: what the pod book knows from its counters is what looking at every pod would say: for host
// ports, affinity between pods, topology spread, and the preferences of both.
// Method: seeded random worlds of nodes, namespaces and pods that come, go and change; after each
// change a new pod is asked about every node, and the answers are those of a model that follows the
// definitions pod by pod. Then single cases that a model of the same author could get wrong, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/placing/node_columns.h"
#include "bench/sim/placing/node_ledger.h"
#include "bench/sim/placing/relations/pod_book.h"
#include "bench/sim/placing/relations/pod_class.h"
#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"
#include "hints/plugins/pod_terms.h"
#include "tests/unit/bench/sim/placing_draws.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";

// The cluster as the model knows it.
struct Model {
  std::map<uint32_t, ClusterNodeRef> nodes;  // By slot.
  std::map<uint64_t, std::pair<ClusterPodRef, uint32_t>> pods;
  std::map<std::string, Labels> namespaces;

  bool Matches(const PodTerm& term, const Pod& holder, const Pod& pod) const {
    Labels labels;
    if (const auto found = namespaces.find(pod.namespace_name); found != namespaces.end()) {
      labels = found->second;
    }
    labels.emplace_back("kubernetes.io/metadata.name", pod.namespace_name);
    return Selects(term, holder.namespace_name, pod.namespace_name, pod.labels, &labels);
  }
  // The value of the label on the pod's node; nullptr: it has none, or the node is gone.
  const std::string* DomainOf(uint32_t slot, const std::string& key) const {
    const auto node = nodes.find(slot);
    return node == nodes.end() ? nullptr : FindLabel(node->second->labels, key);
  }
  bool AreNeighbours(uint32_t a, uint32_t b, const std::string& key) const {
    const std::string* const one = DomainOf(a, key);
    const std::string* const other = DomainOf(b, key);
    return one != nullptr && other != nullptr && *one == *other;
  }
  template <typename Counts>
  int64_t CountNear(uint32_t slot, const std::string& key, Counts counts) const {
    int64_t count = 0;
    for (const auto& [number, each] : pods) {
      if (AreNeighbours(slot, each.second, key) && counts(*each.first)) ++count;
    }
    return count;
  }

  bool HasFreePorts(const Pod& pod, uint32_t slot) const {
    return std::none_of(pods.begin(), pods.end(), [&](const auto& each) {
      return each.second.second == slot &&
             AnyConflicts(RulesOf(pod).host_ports, RulesOf(*each.second.first).host_ports);
    });
  }

  bool MatchesAll(const Pod& holder, const Pod& pod) const {
    const auto& terms = RulesOf(holder).affinity;
    return std::all_of(terms.begin(), terms.end(),
                       [&](const PodTerm& term) { return Matches(term, holder, pod); });
  }
  bool HasAffinity(const Pod& pod, uint32_t slot) const {
    bool has_all = true;
    bool exists = false;
    for (const PodTerm& term : RulesOf(pod).affinity) {
      if (DomainOf(slot, term.topology_key) == nullptr) return false;
      const auto matches = [&](const Pod& other) { return MatchesAll(pod, other); };
      has_all = has_all && CountNear(slot, term.topology_key, matches) > 0;
      for (const auto& [number, each] : pods) {
        exists =
            exists || (matches(*each.first) && DomainOf(each.second, term.topology_key) != nullptr);
      }
    }
    return has_all || (!exists && MatchesAll(pod, pod));
  }
  bool KeepsAway(const Pod& holder, const Pod& pod, uint32_t a, uint32_t b) const {
    const auto& terms = RulesOf(holder).anti_affinity;
    return std::any_of(terms.begin(), terms.end(), [&](const PodTerm& term) {
      return Matches(term, holder, pod) && AreNeighbours(a, b, term.topology_key);
    });
  }
  bool HasNeighbours(const Pod& pod, uint32_t slot) const {
    if (!HasAffinity(pod, slot)) return false;
    return std::none_of(pods.begin(), pods.end(), [&](const auto& each) {
      const auto& [other, where] = each.second;
      return KeepsAway(pod, *other, slot, where) || KeepsAway(*other, pod, slot, where);
    });
  }

  // Of a rule: the count of each domain, by nodes that count.
  std::map<std::string, int64_t> Spread(const Pod& pod, const SpreadRule& rule) const {
    std::map<std::string, int64_t> counts;
    const std::optional<LabelSelector> selector = SelectorOf(rule, pod.labels);
    for (const auto& [slot, node] : nodes) {
      const auto& rules = RulesOf(pod).spread;
      if (!HasAllKeys(rules, rule.is_required, node->labels) || !CountsFor(rule, pod, *node)) {
        continue;
      }
      int64_t& count = counts[*FindLabel(node->labels, rule.topology_key)];
      for (const auto& [number, each] : pods) {
        count += each.second == slot && IsLike(*each.first, pod, selector) ? 1 : 0;
      }
    }
    return counts;
  }
  static bool IsLike(const ClusterPod& other, const Pod& pod,
                     const std::optional<LabelSelector>& selector) {
    return selector && !selector->empty() && !other.deleting &&
           other.namespace_name == pod.namespace_name && MatchesLabels(*selector, other.labels);
  }
  bool IsEven(const Pod& pod, uint32_t slot) const {
    for (const SpreadRule& rule : RulesOf(pod).spread) {
      if (!rule.is_required) continue;
      const std::string* const domain = DomainOf(slot, rule.topology_key);
      if (domain == nullptr) return false;
      const auto counts = Spread(pod, rule);
      int64_t least = INT64_MAX;
      for (const auto& [value, count] : counts) least = std::min(least, count);
      if (counts.size() < static_cast<size_t>(rule.min_domains)) least = 0;
      const auto selector = SelectorOf(rule, pod.labels);
      const int64_t itself = selector && MatchesLabels(*selector, pod.labels) ? 1 : 0;
      const auto found = counts.find(*domain);
      const int64_t there = found == counts.end() ? 0 : found->second;
      if (there + itself - least > rule.max_skew) return false;
    }
    return true;
  }

  int64_t Preference(const Pod& pod, uint32_t slot) const {
    int64_t sum = 0;
    const auto add = [&](const PodTerm& term, int64_t weight) {
      sum += weight * CountNear(slot, term.topology_key,
                                [&](const Pod& other) { return Matches(term, pod, other); });
    };
    for (const auto& each : RulesOf(pod).preferred_affinity) add(each.term, each.weight);
    for (const auto& each : RulesOf(pod).preferred_anti_affinity) add(each.term, -each.weight);
    for (const auto& [number, each] : pods) {
      const Pod& other = *each.first;
      const auto add_of_other = [&, where = each.second](const PodTerm& term, int64_t weight) {
        if (Matches(term, other, pod) && AreNeighbours(slot, where, term.topology_key)) {
          sum += weight;
        }
      };
      for (const PodTerm& term : RulesOf(other).affinity) add_of_other(term, 1);
      for (const auto& e : RulesOf(other).preferred_affinity) add_of_other(e.term, e.weight);
      for (const auto& e : RulesOf(other).preferred_anti_affinity) add_of_other(e.term, -e.weight);
    }
    return sum;
  }

  int64_t Likes(const Pod& pod, uint32_t slot, const std::vector<uint32_t>& slots) const {
    const auto has_keys = [&](uint32_t each) {
      return HasAllKeys(RulesOf(pod).spread, false, nodes.at(each)->labels);
    };
    if (!has_keys(slot)) return -1;
    double sum = 0;
    for (const SpreadRule& rule : RulesOf(pod).spread) {
      if (rule.is_required) continue;
      std::set<std::string> domains;
      size_t feasible = 0;
      for (const uint32_t each : slots) {
        if (!has_keys(each)) continue;
        domains.insert(*DomainOf(each, rule.topology_key));
        ++feasible;
      }
      const bool by_host = rule.topology_key == kHost;
      const auto selector = SelectorOf(rule, pod.labels);
      int64_t count = 0;
      if (by_host) {
        count = CountNear(slot, kHost,
                          [&](const ClusterPod& other) { return IsLike(other, pod, selector); });
      } else {
        const auto counts = Spread(pod, rule);
        const auto found = counts.find(*DomainOf(slot, rule.topology_key));
        count = found == counts.end() ? 0 : found->second;
      }
      const auto size = static_cast<double>((by_host ? feasible : domains.size()) + 2);
      sum += static_cast<double>(count) * std::log(size) + static_cast<double>(rule.max_skew - 1);
    }
    return std::llround(sum);
  }
};

// The book and the model, changed alike.
class RelationsWorld {
 public:
  explicit RelationsWorld(uint64_t seed) : draw_(seed) {}

  void Step() {
    switch (draw_.Below(8)) {
      case 0:
        return SetNode();
      case 1:
        return draw_.OneIn(3) ? RemoveNode() : SetNode();
      case 2:
        return SetNamespace();
      case 3:
        return draw_.OneIn(2) ? RemovePod() : ChangePod();
      default:
        return AddPod();
    }
  }

  // A new pod is asked about every node.
  void Compare(const std::string& where) {
    nodes_.Refresh();
    const auto pod = NewPod();
    const PodClassRef pods = book_.ClassOf(*pod);
    std::vector<uint32_t> slots;
    for (const auto& [slot, node] : model_.nodes) slots.push_back(slot);
    const uint64_t all = nodes_.blocks() == 0 ? 0 : nodes_.known(0);
    const uint64_t ports = book_.WithFreePorts(pods, nodes_, 0, all);
    const uint64_t neighbours = book_.WithNeighbours(pods, nodes_, 0, all);
    const uint64_t even = book_.WithEvenSpread(pods, nodes_, 0, all);
    std::vector<int64_t> preferences(slots.size());
    std::vector<int64_t> likes(slots.size());
    book_.Prefer(pods, slots, preferences);
    const bool has_likes = book_.CountLikes(pods, slots, likes);
    for (size_t i = 0; i < slots.size(); ++i) {
      const uint32_t slot = slots[i];
      const auto passes = [slot](uint64_t mask) { return (mask >> slot & 1) != 0; };
      ASSERT_EQ(passes(ports), model_.HasFreePorts(*pod, slot)) << where << " ports " << slot;
      ASSERT_EQ(passes(neighbours), model_.HasNeighbours(*pod, slot)) << where << " near " << slot;
      ASSERT_EQ(passes(even), model_.IsEven(*pod, slot)) << where << " spread " << slot;
      ASSERT_EQ(preferences[i], model_.Preference(*pod, slot)) << where << " prefers " << slot;
      if (has_likes) {
        ASSERT_EQ(likes[i], model_.Likes(*pod, slot, slots)) << where << " likes " << slot;
      }
    }
  }

 private:
  void SetNode() {
    auto node = std::make_shared<ClusterNode>();
    node->name = draw_.NodeName();
    node->labels = draw_.NodeLabels(node->name);
    node->taints = draw_.Taints();
    node->allocatable = {{"pods", 100}};
    const uint32_t slot = ledger_.SetNode(node);
    book_.SetNode(slot, node);
    model_.nodes[slot] = node;
  }
  // A slot whose node is gone keeps its pods, and the node may come back.
  void RemoveNode() {
    const std::string name = draw_.NodeName();
    const auto slot = ledger_.SlotOf(name);
    if (!slot || model_.nodes.count(*slot) == 0) return;
    book_.SetNode(*slot, nullptr);
    ledger_.RemoveNode(name);
    model_.nodes.erase(*slot);
  }
  void SetNamespace() {
    const std::string name = draw_.Namespace();
    const Labels labels = draw_.PodLabels();
    book_.SetNamespace(name, &labels);
    model_.namespaces[name] = labels;
  }
  std::shared_ptr<ClusterPod> NewPod() {
    auto pod = PodOf(draw_.Below(200), 0);
    pod->namespace_name = draw_.Namespace();
    pod->labels = draw_.PodLabels();
    pod->tolerations = draw_.Tolerations();
    pod->rules = draw_.Rules();
    if (draw_.OneIn(5)) pod->node_selector = {{"disk", "a"}};
    return pod;
  }
  void AddPod() {
    const auto pod = NewPod();
    const uint32_t slot = ledger_.Take(draw_.NodeName(), ledger_.resources().DemandOf(*pod));
    book_.Put(pod, slot, ++place_);
    model_.pods[pod->slot()] = {pod, slot};
    places_[pod->slot()] = place_;
  }
  void RemovePod() {
    if (model_.pods.empty()) return;
    const auto at = std::next(model_.pods.begin(),
                              static_cast<std::ptrdiff_t>(draw_.Below(model_.pods.size())));
    book_.Drop(at->first, places_[at->first] - 1);
    book_.Drop(at->first, places_[at->first]);
    model_.pods.erase(at);
  }
  void ChangePod() {
    if (model_.pods.empty()) return;
    auto& [number, where] = *std::next(
        model_.pods.begin(), static_cast<std::ptrdiff_t>(draw_.Below(model_.pods.size())));
    auto after = std::make_shared<ClusterPod>(*where.first);
    after->labels = draw_.PodLabels();
    after->deleting = draw_.OneIn(4);
    book_.Put(after, where.second, places_[number]);
    where.first = after;
  }

  Draw draw_;
  NodeLedger ledger_;
  NodeColumns nodes_{&ledger_};
  PodBook book_;
  Model model_;
  std::map<uint64_t, uint64_t> places_;
  uint64_t place_ = 0;
};

TEST(PodBook, KnowsWhatLookingAtEveryPodWouldSay) {
  constexpr uint64_t kWorlds = 60;
  constexpr int kSteps = 150;
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    RelationsWorld world(seed);
    for (int step = 0; step < kSteps; ++step) {
      world.Step();
      world.Compare("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// A book with two nodes of one zone and one of another.
class PodBookTest : public testing::Test {
 protected:
  PodBookTest() {
    for (const auto& [number, zone] : {std::pair(1, "a"), std::pair(2, "a"), std::pair(3, "b")}) {
      auto node = NodeOf(static_cast<uint64_t>(number), 1000);
      node->labels = {{kHost, node->name}, {"zone", zone}};
      book_.SetNode(ledger_.SetNode(node), node);
    }
    nodes_.Refresh();
  }
  static std::shared_ptr<ClusterPod> PodWith(uint64_t number, const Labels& labels,
                                             const PodRules& rules = {}) {
    auto pod = PodOf(number, 1);
    pod->namespace_name = "ns";
    pod->labels = labels;
    pod->rules = std::make_shared<PodRules>(rules);
    return pod;
  }
  static PodTerm TermOf(const std::string& app, const std::string& key) {
    return {LabelSelector{{"app", LabelRequirement::Operator::kIn, {app}}}, {}, {}, key};
  }
  uint64_t Near(const ClusterPod& pod) {
    return book_.WithNeighbours(book_.ClassOf(pod), nodes_, 0, nodes_.known(0));
  }

  NodeLedger ledger_;
  NodeColumns nodes_{&ledger_};
  PodBook book_;
};

constexpr uint64_t kFirst = 1;
constexpr uint64_t kSecond = 2;
constexpr uint64_t kThird = 4;

TEST_F(PodBookTest, APodGoesNearThoseItWants) {
  const auto wants = PodWith(1, {}, {.affinity = {TermOf("db", "zone")}});
  EXPECT_EQ(Near(*wants), 0u) << "nobody is there, and it is none of them";
  book_.Put(PodWith(2, {{"app", "db"}}), 0, 1);
  EXPECT_EQ(Near(*wants), kFirst | kSecond);
  const auto wants_itself = PodWith(3, {{"app", "web"}}, {.affinity = {TermOf("web", "zone")}});
  EXPECT_EQ(Near(*wants_itself), kFirst | kSecond | kThird) << "the first goes anywhere";
  book_.Put(wants_itself, 2, 1);
  EXPECT_EQ(Near(*PodWith(4, {{"app", "web"}}, *wants_itself->rules)), kThird);
}

TEST_F(PodBookTest, PodsThatCameBeforeTheFirstRuleCount) {
  book_.Put(PodWith(1, {{"app", "db"}}), 0, 1);
  book_.Put(PodWith(1, {{"app", "web"}}), 0, 1);
  book_.Put(PodWith(2, {{"app", "db"}}), 0, 1);
  book_.Put(PodWith(2, {{"app", "db"}}), 1, 2);
  book_.Drop(2, 1);
  EXPECT_TRUE(book_.PutWhereAllowed(PodWith(3, {{"app", "db"}}), 2, 1));
  book_.Drop(3, 1);
  EXPECT_EQ(Near(*PodWith(4, {}, {.affinity = {TermOf("db", kHost)}})), kSecond);
  EXPECT_EQ(Near(*PodWith(5, {}, {.affinity = {TermOf("web", kHost)}})), kFirst);
  book_.Drop(2, 2);
  EXPECT_EQ(Near(*PodWith(4, {}, {.affinity = {TermOf("db", kHost)}})), 0u);
}

TEST_F(PodBookTest, OnePodMustMatchAllTerms) {
  const auto wants = PodWith(
      1, {},
      {.affinity = {
           TermOf("db", "zone"),
           {LabelSelector{{"tier", LabelRequirement::Operator::kExists, {}}}, {}, {}, kHost}}});
  book_.Put(PodWith(2, {{"app", "db"}}), 0, 1);
  book_.Put(PodWith(3, {{"tier", "x"}}), 0, 1);
  EXPECT_EQ(Near(*wants), 0u);
  book_.Put(PodWith(4, {{"app", "db"}, {"tier", "x"}}), 1, 1);
  EXPECT_EQ(Near(*wants), kSecond);
}

TEST_F(PodBookTest, PodsKeepEachOtherAway) {
  const auto hates = PodWith(1, {}, {.anti_affinity = {TermOf("web", "zone")}});
  const auto web = PodWith(2, {{"app", "web"}});
  EXPECT_FALSE(book_.AnyKeepsAway());
  book_.Put(hates, 0, 1);
  EXPECT_TRUE(book_.AnyKeepsAway());
  book_.Drop(1, 99);
  EXPECT_EQ(Near(*web), kThird) << "that place was another";
  EXPECT_FALSE(book_.PutWhereAllowed(web, 1, 1));
  EXPECT_TRUE(book_.PutWhereAllowed(web, 2, 1));
  EXPECT_EQ(Near(*PodWith(3, {}, *hates->rules)), kFirst | kSecond);
  book_.Drop(1, 1);
  EXPECT_EQ(Near(*web), kFirst | kSecond | kThird);
}

TEST_F(PodBookTest, NamespacesAreNamedOrSelected) {
  PodTerm term = TermOf("web", "zone");
  term.namespace_selector = LabelSelector{{"team", LabelRequirement::Operator::kIn, {"x"}}};
  const auto hates = PodWith(1, {}, {.anti_affinity = {term}});
  book_.Put(hates, 0, 1);
  auto web = PodWith(2, {{"app", "web"}});
  web->namespace_name = "other";
  EXPECT_EQ(Near(*web), kFirst | kSecond | kThird);
  const Labels team = {{"team", "x"}};
  book_.SetNamespace("other", &team);
  EXPECT_EQ(Near(*web), kThird);
  book_.SetNamespace("other", nullptr);
  EXPECT_EQ(Near(*web), kFirst | kSecond | kThird);
}

TEST_F(PodBookTest, MinDomainsCountAsEmptyDomains) {
  SpreadRule rule;
  rule.topology_key = "zone";
  rule.selector = LabelSelector{{"app", LabelRequirement::Operator::kIn, {"web"}}};
  const auto first = PodWith(1, {{"app", "web"}}, {.spread = {rule}});
  book_.Put(first, 0, 1);
  book_.Put(PodWith(2, {{"app", "web"}}), 2, 1);
  const auto even = [&](const ClusterPod& pod) {
    return book_.WithEvenSpread(book_.ClassOf(pod), nodes_, 0, nodes_.known(0));
  };
  EXPECT_EQ(even(*PodWith(3, {{"app", "web"}}, {.spread = {rule}})), kFirst | kSecond | kThird);
  rule.min_domains = 3;
  EXPECT_EQ(even(*PodWith(4, {{"app", "web"}}, {.spread = {rule}})), 0u);
  rule.min_domains = 1;
  book_.Put(PodWith(5, {{"app", "web"}}), 1, 1);
  EXPECT_EQ(even(*PodWith(6, {{"app", "web"}}, {.spread = {rule}})), kThird);
}

// Each of the threads wants a node of its own for every pod; no two may get the same one.
TEST(PodBookThreads, NeverPutTwoWhereOneIsAllowed) {
  constexpr uint64_t kThreads = 4;
  constexpr uint32_t kNodes = 200;
  PodBook book;
  for (uint32_t slot = 0; slot < kNodes; ++slot) {
    auto node = NodeOf(slot, 1000);
    node->labels = {{kHost, node->name}};
    book.SetNode(slot, node);
  }
  auto rules = std::make_shared<PodRules>();
  rules->anti_affinity = {
      {LabelSelector{{"app", LabelRequirement::Operator::kExists, {}}}, {}, {}, kHost}};
  std::vector<std::vector<uint32_t>> taken(kThreads);
  {
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (uint32_t slot = 0; slot < kNodes; ++slot) {
          auto pod = PodOf(i * kNodes + slot, 1);
          pod->labels = {{"app", std::to_string(i)}};
          pod->rules = rules;
          if (book.PutWhereAllowed(pod, slot, 1)) taken[i].push_back(slot);
        }
      });
    }
  }
  std::vector<uint32_t> all;
  for (const auto& each : taken) all.insert(all.end(), each.begin(), each.end());
  EXPECT_EQ(all.size(), kNodes);
  EXPECT_EQ(std::set<uint32_t>(all.begin(), all.end()).size(), kNodes);
}

}  // namespace
}  // namespace schedq
