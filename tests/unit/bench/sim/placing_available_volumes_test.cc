// Goal: a claim finds the smallest volume that suits it and that its node reaches, in few steps.
// Method: a search through all volumes as the model, in random worlds; counted steps where each
// node has volumes of its own, and where no two volumes are alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/cluster_storage.h"
#include "bench/sim/placing/volumes/available_volumes.h"
#include "engine/base/random.h"
#include "engine/label_selector.h"
#include "engine/pod_rules.h"
#include "hints/plugins/volume_rules.h"
#include "tests/unit/bench/sim/placing_test_objects.h"

namespace schedq {
namespace {

using Operator = LabelRequirement::Operator;

std::shared_ptr<ClusterVolume> VolumeOf(const std::string& name, int64_t bytes) {
  auto volume = std::make_shared<ClusterVolume>();
  volume->name = name;
  volume->spec.bytes = bytes;
  return volume;
}

// A world of few values, so that all of them meet.
class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  std::string Zone() { return "z" + std::to_string(Below(3)); }
  std::string NodeName() { return "n" + std::to_string(1 + Below(5)); }
  NodeRequirement Requirement() {
    switch (Below(5)) {
      case 0:
        return {{"metadata.name", Operator::kIn, {NodeName()}}, true};
      case 1:
        return {{"zone", Operator::kNotIn, {Zone()}}, false};
      case 2:
        return {{"disk", Operator::kExists, {}}, false};
      case 3:
        return {{"zone", Operator::kIn, {Zone(), Zone()}}, false};
      default:
        return {{"zone", Operator::kIn, {Zone()}}, false};
    }
  }
  std::shared_ptr<ClusterVolume> Volume(const std::string& name) {
    auto volume = VolumeOf(name, static_cast<int64_t>(1 + Below(4)));
    volume->spec.class_name = Below(2) == 0 ? "one" : "two";
    volume->spec.is_block = Below(4) == 0;
    if (Below(3) == 0) volume->labels = {{"kind", "k" + std::to_string(Below(2))}};
    for (uint64_t terms = Below(3); terms > 0; --terms) {
      NodeTerm& term = volume->spec.node_terms.emplace_back();
      for (uint64_t parts = 1 + Below(2); parts > 0; --parts) term.push_back(Requirement());
    }
    return volume;
  }
  ClusterVolumeClaim Claim() {
    ClusterVolumeClaim claim;
    claim.spec.bytes = static_cast<int64_t>(Below(5));
    claim.spec.class_name = Below(2) == 0 ? "one" : "two";
    claim.spec.is_block = Below(4) == 0;
    if (Below(3) == 0) claim.spec.selector = {{"kind", Operator::kIn, {"k0"}}};
    return claim;
  }
  ClusterNodeRef Node() {
    auto node = NodeOf(1 + Below(5), 1);
    if (Below(4) != 0) node->labels.emplace_back("zone", Zone());
    if (Below(2) == 0) node->labels.emplace_back("disk", "fast");
    std::sort(node->labels.begin(), node->labels.end());
    return node;
  }

 private:
  Random random_;
};

ClusterVolumeRef SmallestOf(const std::map<std::string, ClusterVolumeRef>& volumes,
                            const ClusterVolumeClaim& claim, const ClusterNode& node,
                            const std::vector<std::string>& chosen) {
  ClusterVolumeRef best;
  for (const auto& [name, volume] : volumes) {
    const bool is_free = std::find(chosen.begin(), chosen.end(), name) == chosen.end();
    if (!is_free || !Suits(*volume, claim) || !MeetsAnyTerm(volume->spec.node_terms, node)) {
      continue;
    }
    if (best == nullptr || volume->spec.bytes < best->spec.bytes) best = volume;
  }
  return best;
}

TEST(AvailableVolumes, AreFoundAsByASearchThroughAll) {
  Draws draws(5);
  AvailableVolumes available;
  std::map<std::string, ClusterVolumeRef> volumes;
  int found_some = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::string name = "v" + std::to_string(draws.Below(30));
    const auto known = volumes.find(name);
    if (known != volumes.end()) {
      available.Remove(*known->second);
      available.Remove(*known->second);
      volumes.erase(known);
    } else {
      volumes[name] = draws.Volume(name);
      available.Add(volumes[name]);
    }
    const ClusterVolumeClaim claim = draws.Claim();
    const ClusterNodeRef node = draws.Node();
    std::vector<std::string> chosen;
    for (int round = 0; round < 3; ++round) {
      const ClusterVolumeRef expected = SmallestOf(volumes, claim, *node, chosen);
      const ClusterVolumeRef found = available.Find(claim, *node, chosen);
      ASSERT_EQ(found, expected) << "step " << step << ", round " << round;
      if (found == nullptr) break;
      ++found_some;
      chosen.push_back(found->name);
    }
  }
  EXPECT_GT(found_some, 10'000);
}

std::vector<NodeTerm> OnlyOn(const std::string& node) {
  return {{{{"os", Operator::kIn, {"linux"}}, false}, {{"host", Operator::kIn, {node}}, false}}};
}

// Each node has a volume of its own, and each volume a name among its labels.
TEST(AvailableVolumes, StepsGrowWithQuestionsAndNotWithVolumes) {
  for (const uint64_t count : {500u, 1000u, 2000u, 4000u}) {
    AvailableVolumes local;
    AvailableVolumes anywhere;
    std::vector<ClusterNodeRef> nodes;
    for (uint64_t i = 1; i <= count; ++i) {
      auto node = NodeOf(i, 1);
      node->labels = {{"host", node->name}, {"os", "linux"}};
      const std::string name = "v" + std::to_string(i);
      auto volume = VolumeOf(name, 1);
      volume->spec.node_terms = OnlyOn(node->name);
      local.Add(volume);
      volume = VolumeOf(name, static_cast<int64_t>(i));
      volume->labels = {{"name", name}};
      anywhere.Add(volume);
      nodes.push_back(std::move(node));
    }
    for (uint64_t i = 1; i <= count; ++i) {
      ClusterVolumeClaim claim;
      const ClusterNode& node = *nodes[i - 1];
      const ClusterVolumeRef found = local.Find(claim, node, {});
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->name, "v" + std::to_string(i));
      local.Remove(*found);
      claim.spec.bytes = static_cast<int64_t>(i);
      const ClusterVolumeRef next = anywhere.Find(claim, node, {});
      ASSERT_NE(next, nullptr);
      ASSERT_EQ(next->name, "v" + std::to_string(i));
      anywhere.Remove(*next);
      ASSERT_EQ(local.Find(claim, node, {}), nullptr) << "it is gone, or too small";
    }
    EXPECT_LE(local.steps() + anywhere.steps(), 8 * count) << count;
  }
}

}  // namespace
}  // namespace schedq
