#include "schedq/assembled_parts.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/gates.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "schedq/engine_kind.h"

namespace schedq {
namespace {

// What a failed attempt's condition says where no plugin rejected: upstream's words.
constexpr const char* kNoNodesMessage = "no nodes available to schedule pods";

Result<std::vector<Plugin>> MakePlugins(AssemblyOptions* options, World* world) {
  std::vector<Plugin> plugins;
  if (options->plugins) {
    Result<std::vector<Plugin>> made = options->plugins(world);
    if (!made) return made.error();
    plugins = std::move(*made);
  } else {
    plugins = BuiltinPlugins(world, options->gates);
  }
  for (const PluginSource& source : options->further_plugins) {
    Result<std::vector<Plugin>> further = source(world);
    if (!further) return further.error();
    std::move(further->begin(), further->end(), std::back_inserter(plugins));
  }
  return plugins;
}

}  // namespace

Status AssembledQueue::Parts::Build(AssemblyOptions* options) {
  Result<std::vector<Plugin>> made = MakePlugins(options, &world);
  if (!made) return made.error();
  Result<PluginRegistry> registry = PluginRegistry::Build(std::move(*made));
  if (!registry) return registry.error();
  plugins = std::make_unique<PluginRegistry>(std::move(*registry));
  has_groups = options->gates.GenericWorkload();
  has_composites = options->gates.CompositePodGroup();
  PreEnqueueOptions of_pre_enqueue;
  of_pre_enqueue.metrics = options->measures_pre_enqueue ? &metrics : nullptr;
  of_pre_enqueue.now = options->now;
  pre_enqueue = std::make_unique<PluginPreEnqueue>(*plugins, of_pre_enqueue);
  JudgeOptions of_judge;
  of_judge.metrics = options->measures_hints ? &metrics : nullptr;
  of_judge.now = options->now;
  if (!options->judges_in_parallel) of_judge.parallel_from = JudgeOptions::kNeverParallel;
  judge = std::make_unique<PluginJudge>(*plugins, of_judge);
  ExposeGates(options->gates, &metrics);
  if (options->api_calls) {
    calls = std::make_unique<ApiCalls>(
        *options->api_calls,
        ApiCalls::Surroundings{
            .clock = clock,
            .metrics = &metrics,
            .pod_names = &pod_names,
            .gates = options->gates,
            .user_message =
                [this](const Pod& pod, PluginId plugin, std::string_view message) {
                  return pre_enqueue->UserMessage(pod, plugin, message);
                },
        });
  }
  QueueOptions of_queue = OptionsOfQueue(*options);
  queue = options->make_queue ? options->make_queue(std::move(of_queue))
                              : MakeQueue(options->engine, std::move(of_queue));
  deferred = std::make_unique<DeferredActions>(clock);
  return Status::Ok();
}

QueueOptions AssembledQueue::Parts::OptionsOfQueue(const AssemblyOptions& options) {
  QueueOptions of_queue;
  of_queue.clock = clock;
  of_queue.pod_names = &pod_names;
  of_queue.pre_enqueue = pre_enqueue.get();
  of_queue.judge = judge.get();
  if (calls != nullptr) of_queue.observers.push_back(calls->observer());
  of_queue.observers.insert(of_queue.observers.end(), options.observers.begin(),
                            options.observers.end());
  of_queue.metrics = &metrics;
  of_queue.plugin_names = plugins->Names();
  of_queue.gates = options.gates;
  of_queue.backoff = options.backoff;
  of_queue.max_in_unschedulable = options.max_in_unschedulable;
  of_queue.pods_max = options.pods_max;
  return of_queue;
}

std::string AssembledQueue::Parts::RejectionMessage(PluginSet rejectors) const {
  std::string message;
  rejectors.ForEach([&](PluginId id) {
    if (id >= plugins->size()) return;  // The caller named a plugin that is not there.
    message += (message.empty() ? "" : "; ") + plugins->plugin(id).rejection_message;
  });
  return message.empty() ? kNoNodesMessage : message;
}

}  // namespace schedq
