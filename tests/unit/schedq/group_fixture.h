// Groups and their members, and an assembled queue that knows of groups.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/gates.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "hints/plugin.h"
#include "hints/plugins/builtin.h"
#include "hints/world.h"
#include "schedq/assembly_options.h"
#include "tests/unit/schedq/queue_fixture.h"

namespace schedq {

inline PodGroupRef NewGroup(int64_t min_count, GroupKind kind = GroupKind::kPodGroup) {
  auto group = std::make_shared<PodGroup>();
  group->key = {kind, "ns", "g"};
  group->min_count = min_count;
  return group;
}

inline PodRef NewMember(const std::string& name) {
  auto pod = NewPod(name);
  pod->group_name = "g";
  return pod;
}

inline Gates GatesOfGroups(bool has_groups = true, bool has_composites = false) {
  GateRequest request;
  request.Set(Gate::kGenericWorkload, has_groups);
  request.Set(Gate::kCompositePodGroup, has_composites);
  return *Gates::Resolve(request);
}

// With the plugins Listener and GangScheduling.
class GroupFixture : public AssembledQueueFixture {
 protected:
  AssemblyOptions OptionsOfGroups() {
    AssemblyOptions options = Options();
    options.gates = GatesOfGroups();
    options.further_plugins.push_back(
        [](World* world) { return std::vector<Plugin>{GangSchedulingPlugin(world)}; });
    return options;
  }

  // A gang as large as it must be, of the members a, b, ...
  void AddGang(int members) {
    queue_->GroupChanged(nullptr, NewGroup(members));
    for (int i = 0; i < members; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      MustSucceed(queue_->PodChanged(nullptr, NewMember(name)));
    }
  }
};

}  // namespace schedq
