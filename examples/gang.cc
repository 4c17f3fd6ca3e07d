// A gang of three: two members wait, the third opens it, and one pop gives all. Two of them are
// bound, the third fails, and its group comes back with it.
#include <engine/gates.h>
#include <engine/ports.h>
#include <schedq/assembled_queue.h>

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using schedq::Attempt;

// Is told why a pod waits, each time that it is asked about.
class Reasons final : public schedq::QueueObserver {
 public:
  void OnGated(const schedq::PodRef& pod, schedq::PluginId, std::string_view message,
               const schedq::PodMove&) override {
    std::string& shown = shown_[pod->name];
    if (std::exchange(shown, std::string(message)) == message) return;
    std::printf("%s waits: %s\n", pod->name.c_str(), shown.c_str());
  }

 private:
  std::map<std::string, std::string> shown_;
};

schedq::PodRef MakeMember(const std::string& name) {
  auto pod = std::make_shared<schedq::Pod>();
  pod->namespace_name = "default";
  pod->name = name;
  pod->uid = name;  // Members are counted by their uids.
  pod->group_name = "training";
  return pod;
}

schedq::PodGroupRef MakeGroup() {
  auto group = std::make_shared<schedq::PodGroup>();
  group->key = {schedq::GroupKind::kPodGroup, "default", "training"};
  group->min_count = 3;
  return group;
}

int main() {
  Reasons reasons;
  schedq::AssemblyOptions options;
  schedq::GateRequest gates;
  gates.Set(schedq::Gate::kGenericWorkload, true);  // Off by default.
  options.gates = *schedq::Gates::Resolve(gates);
  options.observers.push_back(&reasons);
  auto made = schedq::AssembledQueue::Create(std::move(options));
  if (!made) return 1;
  schedq::AssembledQueue& queue = **made;

  queue.GroupChanged(nullptr, MakeGroup());
  for (const char* name : {"worker-1", "worker-2", "worker-3"}) {
    std::printf("%s is added\n", name);
    if (!queue.PodChanged(nullptr, MakeMember(name))) return 1;
  }

  std::optional<Attempt> cycle = queue.TryPop();
  std::vector<Attempt> members = cycle->TakeMembers();
  std::printf("popped: %s, %zu members\n", cycle->group().root.name.c_str(), members.size());
  const std::array<std::string_view, 1> rejectors = {"NodeResourcesFit"};
  if (!members[0].Bind() || !members[1].Bind()) return 1;
  if (!members[2].Fail(*queue.Plugins(rejectors))) return 1;
  std::printf("two are bound, one failed: %d pending\n", static_cast<int>(queue.Counts().pending));
  if (!cycle->EndGroup(schedq::GroupStatus::kSuccess)) return 1;
  std::printf("the cycle has ended: %d active\n", static_cast<int>(queue.Counts().active));

  cycle = queue.TryPop();
  std::printf("popped: %s, %zu member, attempt %u\n", cycle->group().root.name.c_str(),
              cycle->group().members.size(), cycle->attempts());
}
