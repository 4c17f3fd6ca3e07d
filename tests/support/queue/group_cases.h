// Members, group objects and a queue that knows them, for tests of pod groups.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/queue_answers.h"
#include "hints/plugin.h"
#include "tests/support/queue/queue_bench.h"
#include "tests/support/queue/queue_cases.h"

namespace schedq {

using Names = std::vector<std::string>;

inline PodRef Member(const std::string& name, const std::string& group, int32_t priority = 0) {
  std::shared_ptr<Pod> pod = MakePod(name, priority);
  pod->group_name = group;
  return pod;
}

inline PodGroupRef Group(const std::string& name, const std::string& parent = "",
                         int32_t priority = 0) {
  auto group = std::make_shared<PodGroup>();
  group->key = {GroupKind::kPodGroup, "ns", name};
  group->parent = parent;
  group->priority = priority;
  return group;
}

inline PodGroupRef Composite(const std::string& name, const std::string& parent = "") {
  auto composite = std::make_shared<PodGroup>(*Group(name, parent));
  composite->key.kind = GroupKind::kComposite;
  return composite;
}

inline Names NamesIn(const PoppedPod& popped) {
  Names names;
  if (popped.group == nullptr) return {popped.pod->name};
  for (const PoppedPod& member : popped.group->members) names.push_back(member.pod->name);
  return names;
}

// A test that runs for every case, with groups.
class QueueGroupsTest : public QueueTest {
 protected:
  QueueBenchOptions GroupOptions(std::vector<Plugin> plugins, bool has_composites = false) const {
    QueueBenchOptions options = Options(std::move(plugins));
    GateRequest request;
    request.Set(Gate::kSchedulerPopFromBackoffQ, GetParam().pops_from_backoff);
    request.Set(Gate::kSchedulerPreQueueingHints, GetParam().narrows);
    request.Set(Gate::kGenericWorkload, true);
    request.Set(Gate::kCompositePodGroup, has_composites);
    options.gates = *Gates::Resolve(request);
    return options;
  }
  QueueBench Bench(std::vector<Plugin> plugins = {}, bool has_composites = false) const {
    return QueueBench(GroupOptions(std::move(plugins), has_composites));
  }
};

}  // namespace schedq
