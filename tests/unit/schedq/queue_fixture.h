// An assembled queue on the virtual clock with one plugin that notes what it hears.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/base/time/virtual_clock.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "hints/world.h"
#include "schedq/assembled_queue.h"
#include "schedq/assembly_options.h"
#include "schedq/engine_kind.h"

namespace schedq {

inline std::shared_ptr<Pod> NewPod(const std::string& name) {
  auto pod = std::make_shared<Pod>();
  pod->namespace_name = "ns";
  pod->name = name;
  pod->uid = "uid-" + name;
  return pod;
}

// Another version of `pod`, to be changed.
inline std::shared_ptr<Pod> VersionOf(const PodRef& pod) { return std::make_shared<Pod>(*pod); }

inline PodRef OnNode(const PodRef& pod, const std::string& node) {
  auto assigned = VersionOf(pod);
  assigned->node_name = node;
  return assigned;
}

inline ObjectRef NewObject(Resource resource, const std::string& name) {
  auto object = std::make_shared<ObjectView>();
  object->resource = resource;
  object->namespace_name = resource == Resource::kNode ? "" : "ns";
  object->name = name;
  return object;
}

// What the plugin "Listener" hears. Its answers are Skip, so that its pods stay.
struct Heard {
  std::vector<std::string> events;    // Resource/action, as each was registered.
  std::vector<ObjectChange> changes;  // In the same order.
  World* world = nullptr;
};

inline Plugin ListenerPlugin(Heard* heard) {
  Plugin plugin;
  plugin.name = "Listener";
  plugin.rejection_message = "not heard enough";
  const auto listen = [&](Resource resource, Action action) {
    std::string name = std::string(ResourceName(resource)) + "/" + std::string(ActionName(action));
    plugin.events.push_back({.resource = resource,
                             .actions = action,
                             .hint =
                                 [heard, name](const Pod&, const ObjectChange& change) {
                                   heard->events.push_back(name);
                                   heard->changes.push_back(change);
                                   return Hint::kSkip;
                                 },
                             .pre_hint = {}});
  };
  for (const Resource resource :
       {Resource::kAssignedPod, Resource::kNode, Resource::kResourceClaim}) {
    listen(resource, Action::kAdd);
    listen(resource, Action::kDelete);
  }
  for (const Action action : {Action::kUpdatePodLabel, Action::kUpdatePodScaleDown}) {
    listen(Resource::kAssignedPod, action);
  }
  for (const Action action :
       {Action::kUpdateNodeAllocatable, Action::kUpdateNodeLabel, Action::kUpdateNodeTaint}) {
    listen(Resource::kNode, action);
  }
  listen(Resource::kResourceClaim, Action::kUpdate);
  return plugin;
}

class AssembledQueueFixture : public testing::TestWithParam<EngineKind> {
 protected:
  // Options of a queue whose only plugins are the listener and `further`.
  AssemblyOptions Options(std::vector<Plugin> further = {}) {
    AssemblyOptions options;
    options.engine = GetParam();
    options.clock = &clock_;
    options.plugins = [this, further = std::move(further)](World* world) {
      heard_.world = world;
      std::vector<Plugin> plugins = further;
      plugins.push_back(ListenerPlugin(&heard_));
      return plugins;
    };
    return options;
  }

  void Make(AssemblyOptions options) {
    auto made = AssembledQueue::Create(std::move(options));
    ASSERT_TRUE(made.ok()) << made.error().message();
    queue_ = std::move(*made);
  }

  PluginSet Named(std::string_view name) {
    const std::string_view names[] = {name};
    return *queue_->Plugins(names);
  }

  // A pod that the listener rejected, so that it hears what happens.
  void AddRejected(const PodRef& pod) {
    MustSucceed(queue_->PodAdded(pod));
    ASSERT_TRUE(queue_->Pop()->Fail(Named("Listener")).ok());
  }

  Place PlaceOf(const std::string& name) const { return queue_->Where("ns/" + name).place; }

  VirtualClock clock_{Instant(std::chrono::seconds(1767225600) + std::chrono::milliseconds(300))};
  Heard heard_;
  std::unique_ptr<AssembledQueue> queue_;
};

inline std::string EngineOf(const testing::TestParamInfo<EngineKind>& info) {
  return std::string(EngineName(info.param));
}

}  // namespace schedq
