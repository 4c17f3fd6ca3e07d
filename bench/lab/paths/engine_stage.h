// Pods, events and an engine for the paths that are measured, as anchors.json describes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

enum class ClaimUse : uint8_t { kNone, kOwnClaim };

// Priorities from {0,0,0,0,100,1000,1000000,2000000000}, seeded. With kOwnClaim, pod i names claim
// i. Pods of different prefixes are different pods.
std::vector<PodRef> MakePods(int64_t count, ClaimUse use, const std::string& prefix = "pod-");

// One update of each pod's claim, in random order.
std::vector<ObjectChange> MakeClaimUpdates(int64_t count);

struct StageOptions {
  EngineKind engine = EngineKind::kLockfree;
  bool narrows = true;            // SchedulerPreQueueingHints
  bool pops_from_backoff = true;  // SchedulerPopFromBackoffQ
  bool has_groups = false;        // GenericWorkload
  Clock* clock = nullptr;         // Null: the machine's.
  QueueMaker make_queue = {};     // Empty: the engine as it is.
  std::vector<QueueObserver*> observers = {};
  std::vector<PluginSource> further_plugins = {};
};

// An engine with the built-in plugins. Hints are judged on the thread that brings the event.
struct EngineStage {
  explicit EngineStage(const StageOptions& options);

  SchedulingQueue& queue() { return assembled->queue(); }
  PluginSet PluginNamed(std::string_view name) const;
  // How often this plugin's hints were asked for an event, whatever they answered.
  uint64_t HintsAsked(std::string_view plugin, const ClusterEvent& event) const;

  std::unique_ptr<AssembledQueue> assembled;
};

// Adds the pods, pops each, and fails it with `rejector`: all are unschedulable.
void RejectAll(EngineStage& stage, const std::vector<PodRef>& pods, PluginSet rejector);

}  // namespace schedq
