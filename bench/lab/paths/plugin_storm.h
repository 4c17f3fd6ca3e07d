// N pods rejected by a plugin of the caller's, and an event for each of N objects, in random order.
//
//   update of an object -> engine -> the pods that the plugin's hints wake leave the pool
//
// Pod i uses claim i and has the label zone=zone-i, as object i has: a plugin that goes by either
// can narrow its events. Object i is claim i where the plugin registered for updates of claims,
// else what its first registration is about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/lab/paths/engine_stage.h"
#include "bench/lab/paths/measured_path.h"
#include "engine/event.h"
#include "engine/object.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

// Answer: an event is judged for as many pods as wait, at most. What the plugin's hints say is its
// own affair. An operation is an event.
class PluginStorm : public MeasuredPath {
 public:
  struct Options {
    EngineKind engine = EngineKind::kLockfree;
    bool narrows = true;
    int64_t pods = 0;
    int64_t events = 0;  // At most `pods`.
    std::vector<PluginSource> plugins;
    std::string plugin;  // The one that is measured; it has registrations.
  };

  explicit PluginStorm(const Options& options);

  void Run() override;
  PathOutcome Outcome() override;

 private:
  const Options options_;
  EngineStage stage_;
  std::vector<ObjectChange> changes_;
  ClusterEvent event_;
};

}  // namespace schedq
