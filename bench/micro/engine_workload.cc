#include "bench/micro/engine_workload.h"

#include <numeric>
#include <string>

#include "engine/base/random.h"
#include "hints/plugins/builtin.h"

namespace schedq {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int32_t kPriorities[] = {0, 0, 0, 0, 100, 1000, 1'000'000, 2'000'000'000};

std::string ClaimName(int64_t number) { return "claim-" + std::to_string(number); }

}  // namespace

std::vector<PodRef> MakePods(int64_t count, ClaimUse use) {
  Random random(kSeed);
  std::vector<PodRef> pods;
  pods.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto pod = std::make_shared<Pod>();
    pod->namespace_name = "benchmark";
    pod->name = "pod-" + std::to_string(i);
    pod->uid = "5c1d34a0-0000-4000-8000-" + std::to_string(100'000'000'000 + i);
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

EngineStage::EngineStage(EngineKind engine, bool narrows) {
  GateRequest request;
  request.Set(Gate::kSchedulerPreQueueingHints, narrows);
  QueueRigOptions options;
  options.engine = engine;
  options.clock = &clock;
  options.make_plugins = [](World* world) { return BuiltinPlugins(world); };
  options.gates = Gates::Resolve(request).value();
  Result<std::unique_ptr<QueueRig>> created = QueueRig::Create(options);
  SCHEDQ_CHECK(created.ok(), "the built-in plugins are well-formed");
  rig = std::move(*created);
}

}  // namespace schedq
