#include "bench/lab/paths/engine_stage.h"

#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/gates.h"
#include "hints/registry.h"  // IWYU pragma: keep
#include "hints/world.h"     // IWYU pragma: keep

namespace schedq {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int32_t kPriorities[] = {0, 0, 0, 0, 100, 1000, 1'000'000, 2'000'000'000};

std::string ClaimName(int64_t number) { return "claim-" + std::to_string(number); }

}  // namespace

std::vector<PodRef> MakePods(int64_t count, ClaimUse use, const std::string& prefix) {
  Random random(kSeed);
  std::vector<PodRef> pods;
  pods.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "benchmark";
    pod->name = prefix + std::to_string(i);
    pod->uid = "5c1d34a0-0000-4000-8000-" + pod->name;
    pod->priority = kPriorities[random.Below(std::size(kPriorities))];
    if (use == ClaimUse::kOwnClaim) pod->claims = {ClaimName(i)};
    pods.push_back(std::move(pod));
  }
  return pods;
}

std::vector<ObjectChange> MakeClaimUpdates(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random(kSeed).Shuffle(order);
  std::vector<ObjectChange> changes;
  changes.reserve(order.size());
  for (const int64_t number : order) {
    auto before = std::make_shared<ObjectView>();
    before->resource = Resource::kResourceClaim;
    before->namespace_name = "benchmark";
    before->name = ClaimName(number);
    auto after = std::make_shared<ObjectView>(*before);
    after->allocated = true;
    changes.push_back({std::move(before), std::move(after)});
  }
  return changes;
}

EngineStage::EngineStage(const StageOptions& options) {
  GateRequest request;
  request.Set(Gate::kSchedulerPreQueueingHints, options.narrows);
  request.Set(Gate::kSchedulerPopFromBackoffQ, options.pops_from_backoff);
  request.Set(Gate::kGenericWorkload, options.has_groups);
  AssemblyOptions assembly;
  assembly.engine = options.engine;
  assembly.clock = options.clock;
  assembly.gates = Gates::Resolve(request).value();
  assembly.judges_in_parallel = false;
  assembly.make_queue = options.make_queue;
  assembly.observers = options.observers;
  assembly.further_plugins = options.further_plugins;
  Result<std::unique_ptr<AssembledQueue>> created = AssembledQueue::Create(std::move(assembly));
  SCHEDQ_CHECK(created.ok(), "plugins were checked before");
  assembled = std::move(*created);
}

PluginSet EngineStage::PluginNamed(std::string_view name) const {
  return PluginSet::Of(*assembled->plugins().Find(name));
}

uint64_t EngineStage::HintsAsked(std::string_view plugin, const ClusterEvent& event) const {
  uint64_t asked = 0;
  for (const char* answer : {"Queue", "QueueSkip", "Error"}) {
    const auto histogram = assembled->metrics().HistogramAt(
        "scheduler_queueing_hint_execution_duration_seconds",
        {std::string(plugin), std::string(LabelText(event.label)), answer});
    if (histogram) asked += histogram->count;
  }
  return asked;
}

// Claims that exist already send no event: the pods that use them come later.
void RejectAll(EngineStage& stage, const std::vector<PodRef>& pods, PluginSet rejector) {
  AssembledQueue& queue = *stage.assembled;
  for (const PodRef& pod : pods) {
    for (const std::string& claim : pod->claims) {
      queue.world().ClaimSeen(pod->namespace_name, claim);
    }
    MustSucceed(queue.PodAdded(pod));
    const Status failed = queue.TryPop()->Fail(rejector);
    SCHEDQ_CHECK(failed.ok(), "a pod that was just popped can fail");
  }
}

}  // namespace schedq
