// Small builders that the tests of hints share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/ports.h"
#include "hints/plugin.h"
#include "hints/registry.h"

namespace schedq::hints_test {

inline Pod MakePod(std::string name, ClaimNames claims = {}) {
  Pod pod;
  pod.namespace_name = "ns";
  pod.name = std::move(name);
  pod.uid = "uid-" + pod.name;
  pod.claims = std::move(claims);
  return pod;
}

inline Pod MakeMember(std::string name, std::string group) {
  Pod pod = MakePod(std::move(name));
  pod.group_name = std::move(group);
  return pod;
}

inline PodGroup MakeGroup(std::string name, int64_t min_count = 0) {
  PodGroup group;
  group.key = {GroupKind::kPodGroup, "ns", std::move(name)};
  group.min_count = min_count;
  return group;
}

inline ObjectRef ViewOfGroup(const PodGroup& group) {
  ObjectView view;
  view.resource = Resource::kPodGroup;
  view.namespace_name = group.key.namespace_name;
  view.name = group.key.name;
  view.min_count = group.min_count;
  return std::make_shared<ObjectView>(std::move(view));
}

inline ObjectRef ViewOfPod(Pod pod) {
  ObjectView view;
  view.resource = Resource::kTargetPod;
  view.namespace_name = pod.namespace_name;
  view.name = pod.name;
  view.uid = pod.uid;
  view.labels = pod.labels;
  view.pod = std::make_shared<Pod>(std::move(pod));
  return std::make_shared<ObjectView>(std::move(view));
}

inline ObjectRef ViewOfClaim(std::string name, bool allocated = false, uint64_t status = 0) {
  ObjectView view;
  view.resource = Resource::kResourceClaim;
  view.namespace_name = "ns";
  view.name = std::move(name);
  view.allocated = allocated;
  view.status_version = status;
  return std::make_shared<ObjectView>(std::move(view));
}

inline PluginRegistry BuildOrDie(std::vector<Plugin> plugins) {
  Result<PluginRegistry> registry = PluginRegistry::Build(std::move(plugins));
  SCHEDQ_CHECK(registry.ok(), registry.error().message().c_str());
  return std::move(*registry);
}

inline QueueingHintFunction Answer(Hint hint) {
  return [hint](const Pod&, const ObjectChange&) { return hint; };
}

// A plugin with one registration on ResourceClaim updates.
inline Plugin ClaimPlugin(std::string name, QueueingHintFunction hint,
                          PreQueueingHintFunction pre_hint = {}) {
  Plugin plugin;
  plugin.name = std::move(name);
  plugin.events = {
      {Resource::kResourceClaim, Action::kUpdate, std::move(hint), std::move(pre_hint)}};
  return plugin;
}

inline ClusterEvent ClaimUpdate() { return MakeEvent(Resource::kResourceClaim, Action::kUpdate); }

inline PluginSet SetOf(std::initializer_list<PluginId> plugins) {
  PluginSet set;
  for (const PluginId plugin : plugins) set.Insert(plugin);
  return set;
}

// Judges one pod.
inline Verdict JudgeOne(const RequeueJudge& judge, const JudgedPod& judged,
                        const ClusterEvent& event, const ObjectChange& change = {}) {
  Verdict verdict = Verdict::kSkip;
  judge.Judge({&judged, 1}, event, change, {&verdict, 1});
  return verdict;
}

}  // namespace schedq::hints_test
