// Goal: the audit finds each gang and each tree of groups that is partly bound, and each group
// outside of its domain, and blames no scheduler for what others did.
// Method: clusters in which members are bound by hand, right and wrong; each kind of fault must be
// found, and each excuse must end it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "bench/sim/cluster/audit_groups.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "tests/unit/bench/sim/cluster_test_objects.h"

namespace schedq {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AuditGroupsTest : public testing::Test {
 protected:
  AuditGroupsTest() {
    for (const char* const node : {"n1", "n2", "n3"}) {
      const std::string rack = std::string(node) == "n3" ? "r2" : "r1";
      Create(std::string("apiVersion: v1\nkind: Node\nmetadata: {name: ") + node +
             ", labels: {rack: " + rack + "}}\nstatus: {capacity: {pods: '10', cpu: '4'}}\n");
    }
  }

  // A policy "gang: {minCount: 2}" or "basic: {}"; `rest` is further fields of the spec.
  void AddGroup(const std::string& name, const std::string& policy, const std::string& rest = "") {
    Create("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: " + name +
           "}\nspec: {schedulingPolicy: {" + policy + "}" + rest + "}\n");
  }
  void AddComposite(const std::string& name, int needed, const std::string& rest = "") {
    Create("apiVersion: scheduling.k8s.io/v1alpha1\nkind: CompositePodGroup\nmetadata: {name: " +
           name + "}\nspec: {schedulingPolicy: {gang: {minGroupCount: " + std::to_string(needed) +
           "}}" + rest + "}\n");
  }
  uint64_t AddMember(const std::string& group, const std::string& rest = "") {
    Create(
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec: {schedulingGroup: "
        "{podGroupName: " +
        group + "}, containers: [{name: c, image: i}]" + rest + "}\n");
    return cluster_.pods().last();
  }
  uint64_t Put(const std::string& group, const std::string& node) {
    const uint64_t pod = AddMember(group);
    EXPECT_TRUE(cluster_.BindPod(pod, node).ok());
    return pod;
  }
  std::vector<std::string> Faults() const {
    std::vector<std::string> faults;
    AuditGroups(
        cluster_,
        {.is_known = {},
         .is_going = [this](const ClusterPod& pod) { return going_.count(pod.number) != 0; },
         .knows_groups = true,
         .knows_composites = knows_composites_,
         .places_by_topology = places_by_topology_},
        &faults);
    return faults;
  }
  // Two gangs of two below a composite that needs both.
  void AddTree() {
    AddComposite("t", 2);
    AddGroup("a", "gang: {minCount: 2}", ", parentCompositePodGroupName: t");
    AddGroup("b", "gang: {minCount: 2}", ", parentCompositePodGroupName: t");
  }

  bool knows_composites_ = true;
  bool places_by_topology_ = true;
  std::set<uint64_t> going_;
  VirtualClock clock_{Instant()};
  Cluster cluster_{{.clock = &clock_}};

 private:
  void Create(const std::string& yaml) {
    ASSERT_TRUE(cluster_.Create(ObjectFrom(yaml), "ns").ok());
  }
};

constexpr char kRack[] = ", schedulingConstraints: {topology: [{key: rack}]}";

TEST_F(AuditGroupsTest, FindsAGangThatIsPartlyBound) {
  AddGroup("g", "gang: {minCount: 2}");
  const uint64_t other = AddMember("g");
  EXPECT_THAT(Faults(), IsEmpty());
  Put("g", "n1");
  EXPECT_THAT(Faults(), ElementsAre("gang ns/g is partly bound: 1 of at least 2 members"));
  going_.insert(other);
  EXPECT_THAT(Faults(), IsEmpty()) << "the other one is on its way";
}

TEST_F(AuditGroupsTest, AMemberThatWasDeletedBeforeItWasBoundExcusesItsGang) {
  AddGroup("g", "gang: {minCount: 2}");
  AddGroup("h", "gang: {minCount: 2}");
  const uint64_t lost = AddMember("g");
  const uint64_t ending = AddMember("h");
  Put("g", "n1");
  Put("h", "n1");
  ASSERT_EQ(Faults().size(), 2u);
  cluster_.DeletePod(lost);
  cluster_.UpdatePod(ending, [](ClusterPod* after) {
    after->finalizers = {"a/b"};
    return after->deleting = true;
  });
  EXPECT_THAT(Faults(), IsEmpty());
}

TEST_F(AuditGroupsTest, APodThatWasCreatedWithANodeIsNoFaultOfTheScheduler) {
  AddGroup("g", "gang: {minCount: 3}", kRack);
  AddMember("g", ", nodeName: n1");
  AddMember("g", ", nodeName: n3");
  EXPECT_THAT(Faults(), IsEmpty());
  Put("g", "n1");
  EXPECT_THAT(Faults(), IsEmpty()) << "they count for their gang";
}

// The canary of the domains.
TEST_F(AuditGroupsTest, FindsAGroupThatIsNotInOneDomain) {
  AddGroup("g", "basic: {}", kRack);
  Put("g", "n1");
  Put("g", "n2");
  EXPECT_THAT(Faults(), IsEmpty());
  Put("g", "n3");
  EXPECT_THAT(Faults(), ElementsAre("group ns/g is not in one domain of rack"));
  places_by_topology_ = false;
  EXPECT_THAT(Faults(), IsEmpty()) << "no constraint is seen";
  places_by_topology_ = true;
  cluster_.UpdateNode("n3", [](ClusterNode* after) {
    after->labels = {{"rack", "r1"}};
    return true;
  });
  EXPECT_THAT(Faults(), IsEmpty()) << "the node may have been elsewhere then";
}

TEST_F(AuditGroupsTest, FindsATreeThatHasFewerGroupsThanItNeeds) {
  AddTree();
  Put("a", "n1");
  const uint64_t second = Put("a", "n1");
  EXPECT_THAT(Faults(), ElementsAre("tree ns/t is partly bound: 1 of at least 2 groups"));
  knows_composites_ = false;
  EXPECT_THAT(Faults(), IsEmpty()) << "there are no trees";
  knows_composites_ = true;
  cluster_.DeletePod(second);
  EXPECT_THAT(Faults(), IsEmpty()) << "a member was deleted";
}

TEST_F(AuditGroupsTest, ATreeIsWholeOrWaitsOrHasLostAGroup) {
  AddTree();
  for (const char* const group : {"a", "a", "b"}) Put(group, "n1");
  EXPECT_THAT(Faults(), ElementsAre("gang ns/b is partly bound: 1 of at least 2 members",
                                    "tree ns/t is partly bound: 1 of at least 2 groups"));
  going_.insert(AddMember("b"));
  EXPECT_THAT(Faults(), IsEmpty());
  going_.clear();
  cluster_.Delete({"PodGroup", "ns", "b"});
  EXPECT_THAT(Faults(), IsEmpty());
}

TEST_F(AuditGroupsTest, FindsATreeThatIsNotInOneDomain) {
  AddComposite("t", 1, kRack);
  AddGroup("a", "basic: {}", ", parentCompositePodGroupName: t");
  AddGroup("b", "basic: {}", ", parentCompositePodGroupName: t");
  Put("a", "n1");
  Put("b", "n2");
  EXPECT_THAT(Faults(), IsEmpty());
  Put("b", "n3");
  EXPECT_THAT(Faults(), ElementsAre("group ns/t is not in one domain of rack"));
}

}  // namespace
}  // namespace schedq
