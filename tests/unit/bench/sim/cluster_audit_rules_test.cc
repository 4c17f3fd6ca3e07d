// Goal: the audit finds each pod that is where it must not be, and blames no pod for what came
// after it was placed.
// Method: clusters in which pods are bound by hand, right and wrong; each kind of rule has a fault
// that must be found, and a change that excuses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/sim/cluster/audit_rules.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AuditRulesTest : public testing::Test {
 protected:
  // A node "n1", "n2", ... of a zone.
  void AddNode(const std::string& name, const std::string& zone) {
    Create(ObjectFrom("apiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {zone: " +
                      zone + "}}\nstatus: {capacity: {pods: '10', cpu: '4'}}\n"));
  }
  // Binds it; returns its number. `spec` is YAML in flow style.
  uint64_t Put(const std::string& node, const std::string& labels, const std::string& spec) {
    const std::string name = "p" + std::to_string(++last_pod_);
    Create(ObjectFrom("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {" +
                      labels + "}}\nspec: {containers: [{name: c" + ports_ + "}]" + spec + "}\n"));
    if (cluster_.FindPod(last_pod_)->node_name.empty()) {
      EXPECT_TRUE(cluster_.BindPod(last_pod_, node).ok());
    }
    return last_pod_;
  }
  std::vector<std::string> Faults() const {
    std::vector<std::string> faults;
    AuditRules(cluster_, &faults);
    return faults;
  }
  void Relabel(uint64_t pod) {
    cluster_.UpdatePod(pod, [](ClusterPod* after) {
      after->labels.emplace_back("zz", "new");
      return true;
    });
  }

  std::string ports_;
  uint64_t last_pod_ = 0;
  VirtualClock clock_{Instant()};
  Cluster cluster_{{.clock = &clock_}};

 private:
  void Create(const ApiObjectRef& object) { ASSERT_TRUE(cluster_.Create(object, "ns").ok()); }
};

constexpr char kZone[] =
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, "
    "values: [a]}]}]}}}";
constexpr char kAwayFromWeb[] =
    ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "[{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}";
constexpr char kNearWeb[] =
    ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "[{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}";
constexpr char kSpread[] =
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
    "DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]";

TEST_F(AuditRulesTest, FindsAPortThatIsGivenTwice) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  ports_ = ", ports: [{hostPort: 80}]";
  Put("n1", "", "");
  Put("n2", "", "");
  EXPECT_THAT(Faults(), IsEmpty());
  Put("n1", "", "");
  EXPECT_THAT(Faults(), ElementsAre(HasSubstr("pod ns/p3 is on n1, which gives its port")));
}

TEST_F(AuditRulesTest, FindsAPodOnANodeThatItsAffinityForbids) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  Put("n1", "", kZone);
  EXPECT_THAT(Faults(), IsEmpty());
  Put("n2", "", kZone);
  Put("n2", "", std::string(kZone) + ", nodeName: n2");
  EXPECT_THAT(Faults(), ElementsAre(HasSubstr("pod ns/p2 is on n2, which its node affinity")))
      << "no scheduler placed the third pod";
  cluster_.UpdateNode("n2", [](ClusterNode* after) {
    after->labels = {{"zone", "c"}};
    return true;
  });
  EXPECT_THAT(Faults(), IsEmpty()) << "the node may have been another then";
}

TEST_F(AuditRulesTest, FindsPodsThatKeepEachOtherAway) {
  AddNode("n1", "a");
  AddNode("n2", "a");
  AddNode("n3", "b");
  Put("n1", "app: web", kAwayFromWeb);
  Put("n3", "app: web", kAwayFromWeb);
  EXPECT_THAT(Faults(), IsEmpty()) << "none is near another";
  const uint64_t third = Put("n2", "app: web", "");
  EXPECT_THAT(Faults(), ElementsAre(HasSubstr("pod ns/p1 is on n1, which is near pods")));
  Relabel(third);
  EXPECT_THAT(Faults(), IsEmpty()) << "it may have had other labels";
}

TEST_F(AuditRulesTest, FindsAPodWithoutTheNeighboursThatItWants) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  const uint64_t web = Put("n1", "app: web", "");
  Put("n1", "", kNearWeb);
  EXPECT_THAT(Faults(), IsEmpty());
  Put("n2", "", kNearWeb);
  EXPECT_THAT(Faults(), ElementsAre(HasSubstr("pod ns/p3 is on n2, which is near no pod")));
  cluster_.DeletePod(web);
  EXPECT_THAT(Faults(), IsEmpty()) << "they may have been there";
}

TEST_F(AuditRulesTest, FindsPodsThatLieUnevenly) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  Put("n1", "app: web", kSpread);
  EXPECT_THAT(Faults(), IsEmpty());
  Put("n1", "app: web", kSpread);
  EXPECT_EQ(Faults().size(), 2u);
  EXPECT_THAT(Faults()[0], HasSubstr("holds too many of its kind"));
  Put("n1", "app: web", "");
  EXPECT_THAT(Faults(), IsEmpty()) << "pods without the rule may lie as they like";
}

TEST_F(AuditRulesTest, ANodeThatComesLateExcusesUnevenness) {
  AddNode("n1", "a");
  Put("n1", "app: web", kSpread);
  Put("n1", "app: web", kSpread);
  EXPECT_THAT(Faults(), IsEmpty());
  AddNode("n2", "b");
  EXPECT_THAT(Faults(), IsEmpty());
}

}  // namespace
}  // namespace schedq
