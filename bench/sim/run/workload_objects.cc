// The operations that create and delete objects.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

#include "bench/format/objects/device_objects.h"
#include "bench/format/objects/storage_objects.h"
#include "bench/format/template/value.h"
#include "bench/sim/cluster/cluster.h"
#include "bench/sim/cluster/cluster_objects.h"
#include "bench/sim/cluster/storage.h"
#include "bench/sim/devices/allocation.h"
#include "bench/sim/devices/prepared_claims.h"
#include "bench/sim/real/real_scheduler.h"
#include "bench/sim/run/client.h"
#include "bench/sim/run/load_generator.h"
#include "bench/sim/run/pod_volumes_maker.h"
#include "bench/sim/run/steady_state.h"
#include "bench/sim/run/workload_runner.h"
#include "bench/sim/scheduler/cost_model.h"
#include "engine/base/random.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"

namespace schedq {
namespace {

constexpr int kOneWorker = 1;

// The streams of random numbers of one operation.
enum LoadStream : uint64_t { kArrivals, kDraws };

Labels SignatureLabels(int64_t index, int64_t batch_size) {
  if (batch_size == 0) return {};
  return {{"signature", fmt::format(FMT_COMPILE("signature-label-{}"), index / batch_size)}};
}

void SetAmount(ResourceList* amounts, const std::string& name, int64_t amount) {
  for (auto& [resource, present] : *amounts) {
    if (resource != name) continue;
    present = amount;
    return;
  }
  amounts->emplace_back(name, amount);
  std::sort(amounts->begin(), amounts->end());
}

}  // namespace

std::optional<std::string> WorkloadRunner::Create(const Result<ApiObjectRef>& object,
                                                  const std::string& namespace_name,
                                                  const Labels& extra_labels) {
  if (!object) {
    error_ = object.error();
    return std::nullopt;
  }
  const Result<ObjectHandle> created =
      simulation_->cluster().Create(*object, namespace_name, extra_labels);
  if (created) return created->name;
  error_ = created.error();
  return std::nullopt;
}

WorkloadRunner::Outcome WorkloadRunner::CreateObjects(const ObjectSource& source, int64_t count,
                                                      int workers,
                                                      const std::string& namespace_name) {
  created_.clear();
  ObjectRenderer renderer(source, count);
  bool is_done = false;
  const auto create = [&](int64_t index) {
    if (error_) return;
    if (const auto name = Create(renderer.Render(index), namespace_name, {})) {
      created_.push_back(*name);
    }
  };
  simulation_->client().DoAll(count, workers, simulation_->costs().create, create,
                              [&] { is_done = true; });
  // An error ends the run before any call under way can take effect.
  return WaitFor([&] { return is_done; }, "not all objects are created");
}

// Pods may arrive during later operations, so the arrivals own all that they need.
WorkloadRunner::Outcome WorkloadRunner::CreateManyPods(const CreatePodsOp& op) {
  struct Load {
    const CreatePodsOp& op;
    ObjectRenderer renderer;
    std::optional<PodVolumesMaker> volumes;
    std::vector<std::vector<std::pair<std::string, int64_t>>> drawn;
    int64_t created = 0;
  };
  Result<std::optional<PodVolumesMaker>> volumes = PodVolumesMaker::For(op);
  if (!volumes) return volumes.error();
  auto load = std::make_shared<Load>(
      Load{op, ObjectRenderer(op.pod, op.count), std::move(*volumes), {}, 0});
  const Random random = simulation_->random().Fork(static_cast<uint64_t>(op_->index));
  if (!op.draws.empty()) {
    Drawer drawer(op.draws, random.Fork(kDraws));
    for (int64_t i = 0; i < op.count; ++i) load->drawn.push_back(drawer.Next());
  }
  const auto create = [this, load](int64_t index, size_t step) {
    if (error_) return;
    if (load->volumes && step < PodVolumesMaker::kCalls) {
      const Status made = load->volumes->Call(&simulation_->cluster(), index, step);
      if (!made.ok()) error_ = made.error();
      return;
    }
    if (!load->drawn.empty()) {
      for (auto& [name, value] : load->drawn[static_cast<size_t>(index)]) {
        load->renderer.Set(name, Value(value));
      }
    }
    Result<ApiObjectRef> pod = load->renderer.Render(index);
    if (pod && load->volumes) pod = load->volumes->WithVolume(*pod, index);
    Create(pod, load->op.namespace_name, SignatureLabels(index, load->op.signature_batch_size));
    ++load->created;
  };
  Client& client = simulation_->client();
  const CostModel& costs = simulation_->costs();
  std::vector<CallLatency> latencies;
  if (load->volumes) latencies = PodVolumesMaker::Latencies(costs);
  latencies.push_back(costs.create);
  const std::vector<Duration> times = ArrivalTimes(op.arrivals, op.count, random.Fork(kArrivals));
  const Instant start = simulation_->clock().Now();
  for (size_t i = 0; i < times.size(); ++i) {
    simulation_->clock().At(start + times[i], [&client, latencies, create, i] {
      const auto create_one = [create, i](int64_t, size_t step) {
        create(static_cast<int64_t>(i), step);
      };
      client.DoAllInSteps(1, kOneWorker, latencies, create_one, [] {});
    });
  }
  if (times.empty()) client.DoAllInSteps(op.count, costs.creators, latencies, create, [] {});
  if (!times.empty() && op.skip_wait) return WaitResult::kDone;
  return WaitFor([&] { return load->created == op.count; }, "not all pods are created");
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const CreateNodesOp& op) {
  Outcome outcome = CreateObjects(op.node, op.count, kOneWorker, "");
  if (!outcome || *outcome != WaitResult::kDone) return outcome;
  outcome = PrepareNodes(op, created_);
  if (!outcome || *outcome != WaitResult::kDone) return outcome;
  outcome = DeclareFeatures();
  if (!outcome || *outcome != WaitResult::kDone) return outcome;
  return WaitForNodes();
}

// The timer is behind those of all deliveries.
WorkloadRunner::Outcome WorkloadRunner::WaitForDelivery(const std::function<bool()>& is_handled,
                                                        const std::string& what) {
  const auto is_delivered = std::make_shared<bool>(false);
  VirtualClock& clock = simulation_->clock();
  clock.At(clock.Now() + simulation_->costs().informer_delay,
           [is_delivered] { *is_delivered = true; });
  return WaitFor([&] { return *is_delivered && is_handled(); }, what);
}

// A scheduler that starts waits for its caches too. A pod that is tried before backs off as after
// an error.
WorkloadRunner::Outcome WorkloadRunner::WaitForNodes() {
  const RealScheduler* const scheduler = simulation_->real_scheduler();
  if (scheduler == nullptr) return WaitResult::kDone;
  return WaitForDelivery([scheduler] { return scheduler->HasHandledNodes(); },
                         "the scheduler has not seen all nodes");
}

WorkloadRunner::Outcome WorkloadRunner::PrepareNodes(const CreateNodesOp& op,
                                                     const std::vector<std::string>& names) {
  if (op.allocatable.allocatable.empty() && !op.allocatable.csi_node && op.label.key.empty() &&
      op.unique_label_key.empty()) {
    return WaitResult::kDone;
  }
  bool is_done = false;
  const auto prepare = [&](int64_t index, size_t step) {
    const std::string& name = names[static_cast<size_t>(index)];
    if (step > 0) return SetCsiNode(*op.allocatable.csi_node, name);
    simulation_->cluster().UpdateNode(name, [&](ClusterNode* node) {
      for (const auto& [resource, amount] : op.allocatable.allocatable) {
        SetAmount(&node->allocatable, resource, amount);
      }
      const auto& values = op.label.values;
      if (!values.empty()) {
        SetLabel(&node->labels, op.label.key, values[static_cast<size_t>(index) % values.size()]);
      }
      if (!op.unique_label_key.empty()) SetLabel(&node->labels, op.unique_label_key, name);
      return true;
    });
  };
  std::vector<CallLatency> latencies = {simulation_->costs().status};
  if (op.allocatable.csi_node) latencies.push_back(simulation_->costs().create);
  simulation_->client().DoAllInSteps(static_cast<int64_t>(names.size()), kOneWorker, latencies,
                                     prepare, [&] { is_done = true; });
  return WaitFor([&] { return is_done; }, "not all nodes are prepared");
}

// Of all nodes, as scheduler_perf does it after each createNodes, which waits until the scheduler
// has seen them.
WorkloadRunner::Outcome WorkloadRunner::DeclareFeatures() {
  if (simulation_->node_features() == nullptr) return WaitResult::kDone;
  std::vector<std::string> names;
  for (const auto& [number, node] : simulation_->cluster().nodes()) names.push_back(node->name);
  const auto declare = [&](int64_t index) {
    simulation_->cluster().UpdateNode(names[static_cast<size_t>(index)], [&](ClusterNode* node) {
      const bool changes = node->declared_features != simulation_->node_features();
      node->declared_features = simulation_->node_features();
      return changes;
    });
  };
  bool is_seen = false;
  VirtualClock& clock = simulation_->clock();
  simulation_->client().DoAll(
      static_cast<int64_t>(names.size()), kOneWorker, simulation_->costs().status, declare, [&] {
        clock.At(clock.Now() + simulation_->costs().informer_delay, [&] { is_seen = true; });
      });
  return WaitFor([&] { return is_seen; }, "not all nodes declare their features");
}

void WorkloadRunner::SetCsiNode(const CsiNodeObject& csi_node, const std::string& node) {
  Storage& storage = simulation_->cluster().storage();
  if (storage.UpdateCsiNode(node, [&](CsiNodeObject* after) { *after = csi_node; })) return;
  auto object = std::make_shared<ApiObject>();
  object->kind = "CSINode";
  object->metadata.name = node;
  object->body = csi_node;
  Create(ApiObjectRef(std::move(object)), "", {});
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const CreateNamespacesOp& op) {
  ApiObjectRef model;
  if (op.namespace_object.object != nullptr) {
    const Result<ApiObjectRef> rendered = ObjectRenderer(op.namespace_object, op.count).Render(0);
    if (!rendered) return Error(rendered.error());
    model = *rendered;
  }
  bool is_done = false;
  const auto create = [&](int64_t index) {
    const std::string name = fmt::format("{}-{}", op.prefix, index);
    const bool is_new = unfinished_.try_emplace(name, 0).second;
    // A namespace without a template has no more than its name, which everything knows.
    if (!is_new || model == nullptr) return;
    auto named = std::make_shared<ApiObject>(*model);
    named->metadata.name = name;
    Create(ApiObjectRef(std::move(named)), "", {});
  };
  simulation_->client().DoAll(op.count, kOneWorker, simulation_->costs().create, create,
                              [&] { is_done = true; });
  return WaitFor([&] { return is_done; }, "not all namespaces are created");
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const CreatePodsOp& op) {
  const std::string& name = op.namespace_name;
  unfinished_.try_emplace(name, 0);
  if (op.collect_metrics) StartSection(name, {{name}, {}});
  Outcome outcome = WaitResult::kDone;
  if (op.steady_state) {
    outcome = KeepSteady(op);
  } else {
    outcome = CreateManyPods(op);
  }
  if (!outcome || *outcome != WaitResult::kDone) return outcome;
  if (op.skip_wait) {
    unfinished_[name] += op.count;
  } else if (!op.steady_state) {
    outcome = WaitForPods({{name}, {}}, op.count, /*attempted=*/false);
    if (!outcome || *outcome != WaitResult::kDone) return outcome;
  }
  if (op.collect_metrics) StopSection();
  return outcome;
}

WorkloadRunner::Outcome WorkloadRunner::KeepSteady(const CreatePodsOp& op) {
  Result<std::unique_ptr<SteadyState>> steady = SteadyState::Start(simulation_, op);
  if (!steady) return steady.error();
  const Duration wanted = simulation_->duration();
  const WaitResult result = PassTime(wanted > Duration(0) ? wanted : op.duration);
  if (result == WaitResult::kInterrupted) return result;
  if ((*steady)->scheduled() > 0) return WaitResult::kDone;
  failure_ = fmt::format("{}:{}: {}: no pod was scheduled in the whole duration", test_case_.file,
                         op_->line, op_->opcode);
  return WaitResult::kTimeout;
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const DeletePodsOp& op) {
  const std::vector<ClusterPodRef> pods =
      simulation_->pods().List({{op.namespace_name}, op.selector});
  struct Progress {
    std::vector<ClusterPodRef> pods;
    size_t deleted = 0;
  };
  auto progress = std::make_shared<Progress>(Progress{pods, 0});
  VirtualClock& clock = simulation_->clock();
  const auto remove = [this, progress](size_t index) {
    simulation_->client().Do(simulation_->costs().remove, [this, progress, index] {
      simulation_->cluster().DeletePodGracefully(progress->pods[index]->number);
      ++progress->deleted;
    });
  };
  for (size_t i = 0; i < pods.size(); ++i) {
    if (op.pods_per_second == 0) {
      remove(i);
    } else {
      const Duration tick = kSecond / op.pods_per_second;
      clock.At(clock.Now() + static_cast<int64_t>(i + 1) * tick, [remove, i] { remove(i); });
    }
  }
  if (op.skip_wait) return WaitResult::kDone;
  return WaitFor([&] { return progress->deleted == pods.size(); }, "not all pods are deleted");
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const CreateAnyOp& op) {
  if (!op.namespace_name.empty()) unfinished_.try_emplace(op.namespace_name, 0);
  return CreateObjects(op.object, op.count, simulation_->costs().creators, op.namespace_name);
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const CreateResourceClaimsOp& op) {
  unfinished_.try_emplace(op.namespace_name, 0);
  return CreateObjects(op.claim, op.count, simulation_->costs().creators, op.namespace_name);
}

// A pod that came before its group would wait for the group's object.
WorkloadRunner::Outcome WorkloadRunner::Execute(const CreatePodGroupsOp& op) {
  unfinished_.try_emplace(op.namespace_name, 0);
  Outcome outcome = CreateObjects(op.group, op.count, kOneWorker, op.namespace_name);
  if (!outcome || *outcome != WaitResult::kDone) return outcome;
  return WaitForDelivery([this] { return simulation_->scheduler().IsCaughtUp(); },
                         "the scheduler has not seen all pod groups");
}

WorkloadRunner::Outcome WorkloadRunner::Execute(const AllocResourceClaimsOp& op) {
  std::vector<std::string> names;
  for (const auto& [name, claim] : simulation_->cluster().claims()) {
    const bool is_meant = op.namespace_name.empty() || claim->namespace_name == op.namespace_name;
    if (is_meant && !claim->allocated) names.push_back(name);
  }
  bool is_done = false;
  const auto allocate = [&](int64_t index) {
    const std::string& name = names[static_cast<size_t>(index)];
    if (error_ || Allocate(name)) return;
    error_ = Error(fmt::format("no node has the devices for ResourceClaim {}", name));
  };
  simulation_->client().DoAll(static_cast<int64_t>(names.size()), kOneWorker,
                              simulation_->costs().status, allocate, [&] { is_done = true; });
  return WaitFor([&] { return is_done; }, "not all claims are allocated");
}

bool WorkloadRunner::Allocate(const std::string& name) {
  Cluster& cluster = simulation_->cluster();
  const ClusterClaimRef claim = cluster.FindClaim(name);
  if (cluster.nodes().empty() || claim == nullptr) return false;
  const ClaimSpec* const specs[] = {&claim->spec};
  const PreparedClaims prepared = cluster.devices().Prepare(specs);
  auto node = cluster.nodes().begin();
  std::advance(node, static_cast<int64_t>(simulation_->random().Below(cluster.nodes().size())));
  for (size_t tried = 0; tried < cluster.nodes().size(); ++tried) {
    AllocationOutcome outcome = cluster.devices().Allocate(prepared, *node->second);
    if (outcome.found()) {
      const auto allocation =
          std::make_shared<const DeviceAllocation>(std::move(outcome.allocations[0]));
      cluster.UpdateClaim(name, [&](ClusterClaim* after) { after->allocation = allocation; });
      return true;
    }
    if (++node == cluster.nodes().end()) node = cluster.nodes().begin();
  }
  return false;
}

}  // namespace schedq
