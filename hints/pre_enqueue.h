// Runs the plugins' PreEnqueue functions: the engine's port PreEnqueueCheck over a PluginRegistry.
//
// Threads: any, concurrently; it holds nothing that changes.
// Invariants:
//  1. The plugin named first is asked first, the others in order of registration, each at most
//  once.
//  2. Nobody is asked after the first rejection.
#pragma once

#include <string>
#include <vector>

#include "engine/ports.h"
#include "hints/registry.h"

namespace schedq {

class PluginPreEnqueue : public PreEnqueueCheck {
 public:
  // `registry` must outlive this.
  explicit PluginPreEnqueue(const PluginRegistry& registry);

  // A `first` without a PreEnqueue function is as good as none.
  PluginId Check(const Pod& pod, PluginId first) const override;

  // The message of a plugin that rejects the pod now. If it would pass by now, because what it
  // waited for came between the check and this call, the plugin's general rejection message.
  std::string Explain(const Pod& pod, PluginId plugin) const override;

 private:
  const PluginRegistry& registry_;
  std::vector<PluginId> plugins_;  // Those with a PreEnqueue function, in order of registration.
};

}  // namespace schedq
