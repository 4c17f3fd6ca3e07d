// Goal: API objects are read as the API server and the scheduler understand them, and features that
// are not modelled are noted.
// Method: objects as YAML, with the fields and features that they must give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/format/objects/api_object.h"
#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/object_template.h"
#include "bench/format/template/value.h"
#include "bench/format/workload/features.h"
#include "engine/label_selector.h"
#include "engine/object.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"

namespace schedq {
namespace {

using Operator = LabelRequirement::Operator;
using testing::HasSubstr;

ApiObject Read(const std::string& text) {
  const auto object = ObjectTemplate::Literal("o.yaml", text)->Read(text, Value());
  EXPECT_TRUE(object) << object.error().message();
  return object ? **object : ApiObject{};
}

ApiObject ReadPod(const std::string& spec) {
  return Read(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: n, labels: {b: 2, a: 1}, "
      "finalizers: [f], ownerReferences: [{apiVersion: v1, kind: Job, name: j, uid: u}]}\n"
      "spec:\n" +
      spec);
}

const Pod& PodOf(const ApiObject& object) { return std::get<PodObject>(object.body).pod; }

std::string ErrorOf(const std::string& text) {
  const auto object = ObjectTemplate::Literal("o.yaml", text)->Read(text, Value());
  return object ? "" : object.error().message();
}

std::vector<Feature> FeaturesOf(const ApiObject& object) {
  std::vector<Feature> features;
  for (const FeatureUse& use : object.features) features.push_back(use.feature);
  return features;
}

TEST(PodObject, ReadsMetadata) {
  const ApiObject object = ReadPod("  containers: [{name: c}]\n");
  EXPECT_EQ(object.metadata.finalizers, std::vector<std::string>{"f"});
  EXPECT_EQ(object.metadata.owners, std::vector<std::string>{"Job/j"});
  EXPECT_EQ(PodOf(object).labels, (Labels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(PodOf(object).name, "p");
  EXPECT_EQ(PodOf(object).namespace_name, "n");
  EXPECT_TRUE(object.features.empty());
}

TEST(PodObject, SumsContainers) {
  const ApiObject object = ReadPod(
      "  containers:\n"
      "  - {name: a, resources: {requests: {cpu: 100m, memory: 1Mi}, limits: {cpu: 1}}}\n"
      "  - {name: b, resources: {limits: {cpu: 200m, example.com/x: 2}}}\n"
      "  overhead: {cpu: 1m}\n");
  EXPECT_EQ(PodOf(object).requests,
            (ResourceList{{"cpu", 301}, {"example.com/x", 2}, {"memory", 1048576}}));
}

TEST(PodObject, TakesTheLargerOfRunningAndStarting) {
  // Starting: sidecar 50 + plain 400 = 450. Running: 100 + 50 + later sidecar 30 = 180.
  const ApiObject object = ReadPod(
      "  containers: [{name: a, resources: {requests: {cpu: 100m, memory: 10}}}]\n"
      "  initContainers:\n"
      "  - {name: s, restartPolicy: Always, resources: {requests: {cpu: 50m, memory: 3}}}\n"
      "  - {name: i, resources: {requests: {cpu: 400m}}}\n"
      "  - {name: t, restartPolicy: Always, resources: {requests: {cpu: 30m}}}\n");
  EXPECT_EQ(PodOf(object).requests, (ResourceList{{"cpu", 450}, {"memory", 13}}));
}

TEST(PodObject, PodLevelResourcesDecide) {
  const ApiObject object = ReadPod(
      "  resources: {requests: {cpu: 700m}}\n"
      "  containers: [{name: a, resources: {requests: {cpu: 100m, memory: 10}}}]\n");
  EXPECT_EQ(PodOf(object).requests, (ResourceList{{"cpu", 700}, {"memory", 10}}));
}

TEST(PodObject, ReadsWhatSchedulingReads) {
  const ApiObject object = ReadPod(
      "  containers: [{name: c, resources: {claims: [{name: one}]}}]\n"
      "  priority: -5\n"
      "  nodeSelector: {disk: ssd}\n"
      "  schedulingGates: [{name: g1}, {name: g2}]\n"
      "  tolerations:\n"
      "  - {key: k, operator: Exists, effect: NoSchedule, tolerationSeconds: 3}\n"
      "  - {key: k, value: v}\n"
      "  resourceClaims:\n"
      "  - {name: one, resourceClaimName: claim-1}\n"
      "  - {name: two, resourceClaimTemplateName: template}\n"
      "  volumes: [{name: s, secret: {secretName: x}}]\n");
  const auto& body = std::get<PodObject>(object.body);
  EXPECT_EQ(body.pod.priority, -5);
  EXPECT_EQ(body.pod.node_selector, (Labels{{"disk", "ssd"}}));
  EXPECT_EQ(body.pod.scheduling_gates, (std::vector<std::string>{"g1", "g2"}));
  EXPECT_EQ(body.pod.tolerations,
            (std::vector<Toleration>{{"k", "", "NoSchedule", true}, {"k", "v", "", false}}));
  EXPECT_EQ(body.pod.claims, ClaimNames{"claim-1"});
  ASSERT_EQ(body.claims.size(), 2u);
  EXPECT_EQ(body.claims[1].template_name, "template");
  EXPECT_TRUE(object.features.empty());
}

std::string Affinity(const std::string& terms) {
  return "  containers: [{name: c}]\n  affinity: {nodeAffinity: "
         "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" +
         terms + "]}}}\n";
}

TEST(PodObject, KeepsAllOfNodeAffinity) {
  const ApiObject simple =
      ReadPod(Affinity("{matchExpressions: [{key: z, operator: In, values: [a, b]}]}"));
  EXPECT_EQ(PodOf(simple).rules->node_terms,
            (std::vector<NodeTerm>{{{{"z", Operator::kIn, {"a", "b"}}, false}}}));
  EXPECT_EQ(FeaturesOf(simple), std::vector<Feature>{Feature::kNodeAffinity});

  const ApiObject by_name =
      ReadPod(Affinity("{matchFields: [{key: metadata.name, operator: In, values: [n]}]}"));
  EXPECT_TRUE(PodOf(by_name).rules->node_terms.at(0).at(0).is_field);

  const ApiObject either =
      ReadPod(Affinity("{matchExpressions: [{key: z, operator: Exists}]}, "
                       "{matchExpressions: [{key: z, operator: In, values: [a]}]}"));
  EXPECT_EQ(PodOf(either).rules->node_terms.size(), 2u);
}

TEST(PodObject, ReadsPreferredNodeAffinity) {
  const ApiObject object = ReadPod(
      "  containers: [{name: c}]\n  affinity: {nodeAffinity: "
      "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
      "{matchExpressions: [{key: z, operator: Gt, values: ['3']}]}}]}}\n");
  EXPECT_EQ(PodOf(object).rules->preferred_node_terms,
            (std::vector<PreferredNodeTerm>{{7, {{{"z", Operator::kGreater, {"3"}}, false}}}}));
}

// The API server writes the values of these labels into the selector when the pod is created.
TEST(PodObject, ReadsPodAffinity) {
  const ApiObject object = ReadPod(
      "  containers: [{name: c}]\n  affinity:\n"
      "    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, "
      "labelSelector: {matchLabels: {x: y}, matchExpressions: [{key: k, operator: NotIn, values: "
      "[v]}]}, namespaces: [n2, n1], matchLabelKeys: [a, missing], mismatchLabelKeys: [b]}]}\n"
      "    podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, "
      "podAffinityTerm: {topologyKey: host, namespaceSelector: {}}}]}\n");
  const PodRules& rules = *PodOf(object).rules;
  ASSERT_EQ(rules.affinity.size(), 1u);
  EXPECT_EQ(rules.affinity[0].topology_key, "zone");
  EXPECT_EQ(rules.affinity[0].namespaces, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_FALSE(rules.affinity[0].namespace_selector.has_value());
  EXPECT_EQ(rules.affinity[0].selector, (LabelSelector{{"x", Operator::kIn, {"y"}},
                                                       {"k", Operator::kNotIn, {"v"}},
                                                       {"a", Operator::kIn, {"1"}},
                                                       {"b", Operator::kNotIn, {"2"}}}));
  ASSERT_EQ(rules.preferred_anti_affinity.size(), 1u);
  EXPECT_EQ(rules.preferred_anti_affinity[0].weight, 3);
  EXPECT_FALSE(rules.preferred_anti_affinity[0].term.selector.has_value());
  EXPECT_EQ(rules.preferred_anti_affinity[0].term.namespace_selector, LabelSelector());
}

TEST(PodObject, ReadsTopologySpread) {
  const ApiObject object = ReadPod(
      "  containers: [{name: c}]\n  topologySpreadConstraints:\n"
      "  - {topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 2, minDomains: 3, "
      "NodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor, matchLabelKeys: [a], labelSelector: "
      "{}}\n"
      "  - {topologyKey: host, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}\n");
  const auto& spread = PodOf(object).rules->spread;
  ASSERT_EQ(spread.size(), 2u);
  EXPECT_EQ(spread[0], (SpreadRule{true, 2, 3, "zone", LabelSelector(), {"a"}, false, true}));
  EXPECT_EQ(spread[1], (SpreadRule{false, 1, 1, "host", std::nullopt, {}, true, false}));
}

TEST(PodObject, ReadsPortsOfTheNode) {
  const ApiObject object = ReadPod(
      "  containers: [{name: c, image: 'a/b', ports: [{containerPort: 1}, {containerPort: 2, "
      "hostPort: 80, hostIP: 10.0.0.1, protocol: UDP}]}]\n"
      "  initContainers: [{name: i, image: 'r:5000/x', ports: [{hostPort: 81}]}]\n");
  EXPECT_EQ(PodOf(object).rules->host_ports,
            (std::vector<HostPort>{{"10.0.0.1", "UDP", 80}, {"0.0.0.0", "TCP", 81}}));
  EXPECT_EQ(std::get<PodObject>(object.body).images,
            (std::vector<std::string>{"a/b:latest", "r:5000/x:latest"}));
  const ApiObject on_network =
      ReadPod("  hostNetwork: true\n  containers: [{name: c, ports: [{containerPort: 9}]}]\n");
  EXPECT_EQ(PodOf(on_network).rules->host_ports, (std::vector<HostPort>{{"0.0.0.0", "TCP", 9}}));
}

TEST(PodObject, RefusesRulesThatTheApiServerWouldRefuse) {
  for (const char* spec :
       {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}]}}\n",
        "  affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: "
        "101, "
        "podAffinityTerm: {topologyKey: z}}]}}\n",
        "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "[{topologyKey: z, labelSelector: {matchExpressions: [{key: k, operator: Gt}]}}]}}\n",
        "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "[{topologyKey: z, labelSelector: {matchExpressions: [{key: k, operator: In}]}}]}}\n",
        "  topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: Never}]\n",
        "  topologySpreadConstraints: [{topologyKey: z, maxSkew: 0}]\n",
        "  topologySpreadConstraints: [{topologyKey: z, nodeTaintsPolicy: Maybe}]\n"}) {
    const std::string text =
        "apiVersion: v1\nkind: Pod\nspec:\n  containers: [{name: c}]\n" + std::string(spec);
    EXPECT_FALSE(ObjectTemplate::Literal("o.yaml", text)->Read(text, Value())) << spec;
  }
}

TEST(PodObject, NotesTheFeaturesThatItNeeds) {
  const struct {
    const char* spec;
    Feature feature;
  } rows[] = {
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
       "[{topologyKey: z}]}}\n",
       Feature::kPodAffinity},
      {"  affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
       "[{weight: 1, podAffinityTerm: {topologyKey: z}}]}}\n",
       Feature::kPreferredPodAntiAffinity},
      {"  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
       "[{weight: 1, preference: {}}]}}\n",
       Feature::kPreferredNodeAffinity},
      {"  topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule, "
       "NodeAffinityPolicy: Honor}]\n",
       Feature::kTopologySpread},
      {"  topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: ScheduleAnyway}]\n",
       Feature::kPreferredTopologySpread},
      {"  initContainers: [{name: i, ports: [{hostPort: 80}]}]\n", Feature::kHostPorts},
      {"  volumes: [{name: v, persistentVolumeClaim: {claimName: x}}]\n",
       Feature::kPersistentVolumes},
      {"  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {}}}]\n",
       Feature::kEphemeralVolumes},
      {"  schedulingGroup: {podGroupName: g}\n", Feature::kPodGroups},
      {"  nodeName: n\n", Feature::kPreboundPods},
      {"  schedulerName: mine\n", Feature::kOtherScheduler},
      {"  priorityClassName: gold\n", Feature::kPriorityClasses},
  };
  for (const auto& row : rows) {
    const ApiObject object = ReadPod(std::string("  containers: [{name: c}]\n") + row.spec);
    EXPECT_EQ(FeaturesOf(object), std::vector<Feature>{row.feature}) << row.spec;
    EXPECT_FALSE(GetFeatureInfo(row.feature).name.empty());
  }
  EXPECT_EQ(PodOf(ReadPod("  containers: [{name: c}]\n  priorityClassName: system-node-critical\n"))
                .priority,
            2'000'001'000);
}

TEST(NodeObject, DefaultsAllocatableFromCapacity) {
  const ApiObject object = Read(
      "apiVersion: v1\nkind: Node\nmetadata: {generateName: n-}\n"
      "spec: {unschedulable: true, taints: [{key: k, effect: NoSchedule}]}\n"
      "status: {capacity: {cpu: 4, memory: 1Gi, pods: '110'}, conditions: [{type: Ready, status: "
      "'False'}]}\n");
  const auto& node = std::get<NodeObject>(object.body);
  EXPECT_EQ(node.allocatable, (ResourceList{{"cpu", 4000}, {"memory", 1 << 30}, {"pods", 110}}));
  EXPECT_TRUE(node.unschedulable);
  EXPECT_FALSE(node.ready);
  EXPECT_EQ(node.taints, (std::vector<Taint>{{"k", "", "NoSchedule"}}));
  const ApiObject other =
      Read("apiVersion: v1\nkind: Node\nstatus: {capacity: {cpu: 4}, allocatable: {cpu: 3}}\n");
  EXPECT_EQ(std::get<NodeObject>(other.body).allocatable, (ResourceList{{"cpu", 3000}}));
}

TEST(DefaultObjects, AreUpstreams) {
  const auto pod = ObjectRenderer({ObjectTemplate::DefaultPod(), {}}, 1).Render(0);
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_EQ((*pod)->metadata.generate_name, "pod-");
  EXPECT_EQ(PodOf(**pod).requests, (ResourceList{{"cpu", 100}, {"memory", 524288000}}));
  const auto node = ObjectRenderer({ObjectTemplate::DefaultNode("node-3-"), {}}, 1).Render(0);
  ASSERT_TRUE(node) << node.error().message();
  EXPECT_EQ((*node)->metadata.generate_name, "node-3-");
  EXPECT_EQ(std::get<NodeObject>((*node)->body).allocatable,
            (ResourceList{{"cpu", 4000}, {"memory", int64_t{32} << 30}, {"pods", 110}}));
}

TEST(DeviceObjects, ReadClassesAndCounts) {
  const ApiObject claim = Read(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\n"
      "spec: {metadata: {labels: {a: b}}, spec: {devices: {constraints: null, requests: "
      "[{name: r, exactly: {deviceClassName: c, selectors: null}}, "
      "{name: s, exactly: {deviceClassName: d, count: 3}}]}}}\n");
  const auto& body = std::get<ResourceClaimTemplateObject>(claim.body);
  EXPECT_EQ(body.claim_labels, (Labels{{"a", "b"}}));
  ASSERT_EQ(body.spec.requests.size(), 2u);
  EXPECT_EQ(body.spec.requests[0].alternatives[0].count, 1);
  EXPECT_EQ(body.spec.requests[1].alternatives[0].class_name, "d");
  EXPECT_EQ(body.spec.requests[1].alternatives[0].count, 3);
  EXPECT_TRUE(claim.features.empty());

  const ApiObject slice = Read(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
      "spec: {driver: d, nodeName: n, pool: {name: p, generation: 1, resourceSliceCount: 1}, "
      "devices: [{name: a, attributes: {x: {int: 1}}}, {name: b, capacity: {m: {value: 1}}}]}\n");
  const auto& devices = std::get<ResourceSliceObject>(slice.body).devices;
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].attributes,
            (std::vector<SliceAttribute>{
                {.name = "x", .type = SliceAttribute::Type::kInt, .numbers = {1}}}));
  EXPECT_EQ(devices[1].capacity[0].amount, Quantity::Of(1));
  EXPECT_TRUE(slice.features.empty());

  const ApiObject clazz = Read(
      "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: c}\n"
      "spec: {selectors: [{cel: {expression: 'device.driver == \"x.y\"'}}]}\n");
  EXPECT_EQ(std::get<DeviceClassObject>(clazz.body).selectors,
            std::vector<std::string>{"device.driver == \"x.y\""});
  EXPECT_EQ(FeaturesOf(clazz), std::vector<Feature>{Feature::kClassSelectors});
}

TEST(DeviceObjects, ReadEachPartOfASlice) {
  const ApiObject object = Read(
      "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n"
      "  {driver: d, perDeviceNodeSelection: true, pool: {name: p, generation: 3, "
      "resourceSliceCount: 2}, devices: [{name: a, allowMultipleAllocations: true, allNodes: "
      "true,\n"
      "  attributes: {v: {versions: [1.0.0, 1.1.0]}, b: {bools: [true, false]}},\n"
      "  capacity: {m: {value: 10G, requestPolicy: {default: 1M, validRange: {min: 1M, step: "
      "8}}},\n"
      "    n: {value: '4', requestPolicy: {validValues: ['1', '2']}}},\n"
      "  consumesCounters: [{counterSet: c, counters: {x: {value: '1'}}, "
      "compatibilityGroups: [z, y]}],\n"
      "  taints: [{key: k, effect: NoExecute}], bindsToNode: true, bindingConditions: [r],\n"
      "  bindingFailureConditions: [f]}]}\n");
  const auto& slice = std::get<ResourceSliceObject>(object.body);
  EXPECT_EQ(slice.generation, 3);
  EXPECT_EQ(slice.slice_count, 2);
  ASSERT_EQ(slice.devices.size(), 1u);
  const SliceDevice& device = slice.devices[0];
  EXPECT_TRUE(device.is_shared && device.reach.is_everywhere && device.binds_to_node);
  EXPECT_EQ(device.attributes[0].numbers, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(device.attributes[1].texts, (std::vector<std::string>{"1.0.0", "1.1.0"}));
  EXPECT_EQ(device.capacity[0].policy->range->step, Quantity::Of(8));
  EXPECT_EQ(device.capacity[1].policy->valid_amounts.size(), 2u);
  EXPECT_EQ(device.counter_uses[0].compatibility_groups, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(device.taints, (std::vector<Taint>{{"k", "", "NoExecute"}}));
  EXPECT_EQ(device.binding_failure_conditions, std::vector<std::string>{"f"});

  const ApiObject rule = Read(
      "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\n"
      "spec: {deviceSelector: {pool: p}, taint: {key: k, value: v, effect: NoSchedule}}\n");
  EXPECT_EQ(std::get<DeviceTaintRuleObject>(rule.body).pool, "p");
}

TEST(DeviceObjects, AreReadStrictly) {
  const std::string claim =
      "apiVersion: v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: {devices: ";
  const std::string slice =
      "apiVersion: v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
      "spec: {driver: d, pool: {name: p}, ";
  const struct {
    std::string yaml;
    const char* message;
  } rows[] = {
      {claim + "{requests: [{name: r}]}}\n", "neither exactly nor firstAvailable"},
      {claim + "{requests: [{name: r, firstAvailable: []}]}}\n", "0 alternatives"},
      {claim + "{requests: [{name: r, exactly: {deviceClassName: c, count: 0}}]}}\n", "count is 0"},
      {claim + "{requests: [{name: r, exactly: {deviceClassName: c, allocationMode: Some}}]}}\n",
       "expected ExactCount or All"},
      {claim + "{constraints: [{requests: [x], matchAttribute: a/b}]}}\n",
       "expected a request of the claim"},
      {claim + "{constraints: [{matchAttribute: a/b, distinctAttribute: a/b}]}}\n",
       "expected either"},
      {claim + "{constraints: [{matchAttribute: b}]}}\n", "expected domain/name"},
      {claim + "{requests: [{name: r, exactly: {deviceClassName: c, selectors: [{cel: "
               "{expression: 'device.drivr'}}]}}]}}\n",
       "drivr"},
      {slice + "nodeName: n, devices: [{name: a, attributes: {x: {version: 1.2}}}]}\n",
       "expected one such as 1.2.3"},
      {slice + "devices: []}\n", "expected exactly one of nodeName"},
      {slice + "nodeName: n, allNodes: true}\n", "expected exactly one of nodeName"},
      {slice + "nodeName: n, devices: [{name: a}, {name: a}]}\n", "two devices a"},
      {slice + "nodeName: n, devices: [{name: a, attributes: {x: {}}}]}\n", "0 values"},
      {slice + "nodeName: n, devices: [{name: a, capacity: {x: {value: -1}}}]}\n", "\"-1\""},
      {slice + "nodeName: n, devices: [{name: a, unknown: 1}]}\n", "unknown"},
      {slice + "nodeName: n, devices: [{name: a, taints: [{key: k, effect: Maybe}]}]}\n",
       "expected NoSchedule, NoExecute or None"},
      {slice + "nodeName: n, devices: [{name: a, capacity: {x: {value: 1, requestPolicy: "
               "{validRange: {min: 1, step: 0}}}}}]}\n",
       "step is 0"},
  };
  for (const auto& row : rows) EXPECT_THAT(ErrorOf(row.yaml), HasSubstr(row.message)) << row.yaml;
}

TEST(DeviceObjects, NoteWhatIsNotModelled) {
  const struct {
    const char* request;
    Feature feature;
  } rows[] = {
      {"firstAvailable: [{name: a, deviceClassName: c}]", Feature::kClaimAlternatives},
      {"exactly: {deviceClassName: c, allocationMode: All}", Feature::kClaimAllDevices},
      {"exactly: {deviceClassName: c, adminAccess: true}", Feature::kClaimAdminAccess},
      {"exactly: {deviceClassName: c, selectors: [{cel: {expression: 'true'}}]}",
       Feature::kClaimSelectors},
      {"exactly: {deviceClassName: c, tolerations: [{operator: Exists}]}",
       Feature::kClaimTolerations},
      {"exactly: {deviceClassName: c, capacity: {requests: {b: 1}}}", Feature::kClaimCapacity},
  };
  for (const auto& row : rows) {
    const ApiObject object = Read(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n"
        "metadata: {name: c}\nspec: {devices: {requests: [{name: r, " +
        std::string(row.request) + "}]}}\n");
    EXPECT_EQ(FeaturesOf(object), std::vector<Feature>{row.feature}) << row.request;
  }
}

TEST(DisruptionBudgets, AreReadStrictly) {
  const auto budget = [](const std::string& spec) {
    return "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {" + spec +
           "}\n";
  };
  const ApiObject object = Read(budget("selector: {matchLabels: {a: b}}, minAvailable: 2"));
  EXPECT_TRUE(object.features.empty());
  const auto& body = std::get<DisruptionBudgetObject>(object.body);
  EXPECT_EQ(body.min_available, (BudgetBound{2, false}));
  EXPECT_FALSE(body.max_unavailable);
  ASSERT_TRUE(body.selector);
  EXPECT_EQ(body.selector->size(), 1u);
  const auto share = Read(budget("maxUnavailable: 30%, unhealthyPodEvictionPolicy: AlwaysAllow"));
  EXPECT_EQ(std::get<DisruptionBudgetObject>(share.body).max_unavailable, (BudgetBound{30, true}));
  EXPECT_FALSE(std::get<DisruptionBudgetObject>(share.body).selector);
  EXPECT_THAT(ErrorOf(budget("minAvailable: 1, maxUnavailable: 1")), HasSubstr("expected either"));
  EXPECT_THAT(ErrorOf(budget("minAvailable: -1")), HasSubstr("expected a number such as 2"));
  EXPECT_THAT(ErrorOf(budget("minAvailable: 101%")), HasSubstr("0% to 100%"));
  EXPECT_THAT(ErrorOf(budget("minAvialable: 1")), HasSubstr("minAvialable"));
}

TEST(OtherObjects, AreInertOrNoted) {
  EXPECT_TRUE(Read("apiVersion: v1\nkind: Service\nspec: {any: thing}\n").features.empty());
  EXPECT_EQ(FeaturesOf(Read("apiVersion: v1\nkind: PersistentVolume\nspec: {}\n")),
            std::vector<Feature>{Feature::kPersistentVolumes});
  const ApiObject unknown = Read("apiVersion: x/v1\nkind: Widget\n");
  ASSERT_EQ(unknown.features.size(), 1u);
  EXPECT_EQ(unknown.features[0].detail, "Widget");
  EXPECT_EQ(IsNamespacedKind("Node"), false);
  EXPECT_EQ(IsNamespacedKind("Pod"), true);
  EXPECT_FALSE(IsNamespacedKind("Widget"));
}

TEST(ObjectRenderer, SharesEqualObjects) {
  const auto same = ObjectTemplate::Compile(
      "t", "apiVersion: v1\nkind: Secret\nmetadata: {name: 's{{DivideInt .Index 2}}'}\n");
  ASSERT_TRUE(same);
  ObjectRenderer renderer({*same, {}}, 4);
  const ApiObjectRef first = *renderer.Render(0);
  EXPECT_EQ(*renderer.Render(1), first);
  EXPECT_NE(*renderer.Render(2), first);
  EXPECT_EQ((*renderer.Render(2))->metadata.name, "s1");
}

}  // namespace
}  // namespace schedq
