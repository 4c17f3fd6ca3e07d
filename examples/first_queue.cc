// A pod's life in a queue: it is added, popped, fails, an event brings it back, and it is bound.
#include <schedq/assembled_queue.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

using schedq::Attempt;

// One version of the pod; a version never changes.
schedq::PodRef MakePod() {
  auto pod = std::make_shared<schedq::Pod>();
  pod->namespace_name = "default";
  pod->name = "web";
  pod->uid = "1";
  pod->requests = {{"cpu", 500}};  // Millicores.
  return pod;
}

schedq::ObjectRef MakeNode(int64_t cpu) {
  auto node = std::make_shared<schedq::ObjectView>();
  node->resource = schedq::Resource::kNode;
  node->name = "node-1";
  node->allocatable = {{"cpu", cpu}, {"pods", 110}};
  return node;
}

int main() {
  schedq::AssemblyOptions options;
  options.backoff.maximum = schedq::Duration(0);  // A failed pod need not wait.
  auto made = schedq::AssembledQueue::Create(std::move(options));
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message().c_str());
    return 1;
  }
  schedq::AssembledQueue& queue = **made;

  const schedq::PodRef pod = MakePod();
  if (!queue.PodChanged(nullptr, pod)) return 1;  // There is no room for it.
  std::printf("added: %d active\n", static_cast<int>(queue.Counts().active));

  {
    std::optional<Attempt> attempt = queue.Pop();
    std::printf("popped: %s, attempt %u\n", attempt->pod().name.c_str(), attempt->attempts());
    // No node has room: the plugin that said so decides which events bring the pod back.
    const std::array<std::string_view, 1> rejectors = {"NodeResourcesFit"};
    if (!attempt->Fail(*queue.Plugins(rejectors))) return 1;
    std::printf("failed: %d unschedulable\n", static_cast<int>(queue.Counts().unschedulable));
  }

  queue.NodeChanged(MakeNode(100), MakeNode(200));
  std::printf("a node too small: %d active\n", static_cast<int>(queue.Counts().active));
  queue.NodeChanged(MakeNode(100), MakeNode(4000));
  std::printf("a node with room: %d active\n", static_cast<int>(queue.Counts().active));

  std::optional<Attempt> attempt = queue.TryPop();
  std::printf("popped: %s, attempt %u\n", attempt->pod().name.c_str(), attempt->attempts());
  if (!attempt->Bind()) return 1;
  const schedq::Status again = attempt->Bind();  // An attempt ends once.
  std::printf("bound: %d in flight\n", static_cast<int>(queue.Counts().in_flight));
  std::printf("bound again: %s\n", again.error().message().c_str());
}
