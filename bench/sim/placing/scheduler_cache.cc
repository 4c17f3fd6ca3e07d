#include "bench/sim/placing/scheduler_cache.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/sim/placing/placing_plugin.h"
#include "bench/sim/placing/resource_table.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/pod.h"

namespace schedq {
namespace {

// A pod's word: whether it is assumed (1 bit), its node's slot + 1 or 0 (32 bits), and the number
// of its assumption (31 bits).
constexpr uint64_t kAssumed = 1;
constexpr int kSlotShift = 1;
constexpr int kAssumptionShift = 33;
constexpr uint64_t kSlotMask = uint64_t{UINT32_MAX} << kSlotShift;

uint64_t SlotBits(uint32_t slot) { return (uint64_t{slot} + 1) << kSlotShift; }
bool CountsOnANode(uint64_t word) { return (word & kSlotMask) != 0; }
uint32_t SlotOfWord(uint64_t word) {
  return static_cast<uint32_t>(((word & kSlotMask) >> kSlotShift) - 1);
}
uint32_t AssumptionOf(uint64_t word) { return static_cast<uint32_t>(word >> kAssumptionShift); }
// Tells the pod's places apart.
uint64_t PlaceOf(uint64_t word) { return word & ~kAssumed; }
uint64_t AssumptionBits(uint64_t word) { return word >> kAssumptionShift << kAssumptionShift; }

// Replaces the word by what `change` makes of it, and returns what it was. Each failed exchange
// means that another thread has changed it.
template <typename Change>
uint64_t Replace(std::atomic<uint64_t>& word, const Change& change) {
  uint64_t before = word.load();
  while (!word.compare_exchange_weak(before, change(before))) {
  }
  return before;
}

}  // namespace

bool PlacesByTopology(const Gates& gates) {
  return gates.On(Gate::kTopologyAwareWorkloadScheduling) || gates.CompositePodGroup();
}

SchedulerCache::SchedulerCache(const PlacingPluginSource& plugins, const Gates& gates,
                               const DeviceFeatures& devices, const SchedulerSettings& settings)
    : plugin_source_(plugins),
      gates_(gates),
      device_features_(devices),
      settings_(settings),
      places_by_topology_(PlacesByTopology(gates)),
      claims_(devices),
      frameworks_(MakeFrameworks()),
      keeps_pods_(std::any_of(frameworks_.begin(), frameworks_.end(), [](const auto& framework) {
        return !framework->At(ExtensionPoint::kPostFilter).empty();
      })) {
  groups_.KnowComposites(gates.CompositePodGroup());
}

std::vector<std::unique_ptr<const Framework>> SchedulerCache::MakeFrameworks() {
  std::vector<std::unique_ptr<const Framework>> made;
  for (const SchedulerProfile& profile : settings_.profiles) {
    made.push_back(std::make_unique<const Framework>(
        plugin_source_({.resources = &nodes_.resources(),
                        .claims = &claims_,
                        .pods = &pods_by_node_,
                        .pod_book = &pod_book_,
                        .volumes = &volumes_,
                        .budgets = &budgets_,
                        .groups = gates_.GenericWorkload() ? &groups_ : nullptr,
                        .places_by_topology = places_by_topology_,
                        .profile = profile}),
        profile));
  }
  return made;
}

std::optional<size_t> SchedulerCache::ProfileOf(const ClusterPod& pod) const {
  const std::string& wanted = pod.scheduler_name();
  for (size_t i = 0; i < frameworks_.size(); ++i) {
    if (frameworks_[i]->profile().scheduler_name == wanted) return i;
  }
  return std::nullopt;
}

std::unique_ptr<SchedulerCache> SchedulerCache::CopyWithoutPods() const {
  auto copy = std::make_unique<SchedulerCache>(plugin_source_, gates_, device_features_, settings_);
  for (uint32_t slot = 0; slot < nodes_.slots(); ++slot) {
    ClusterNodeRef node = nodes_.NodeAt(slot);
    if (node == nullptr) continue;
    ClusterChange change;
    change.resource = Resource::kNode;
    change.objects.after = std::move(node);
    copy->Apply(change);
  }
  {
    const std::lock_guard lock(others_mutex_);
    for (const auto& [name, change] : others_) copy->Apply(change);
  }
  copy->nominations_.Follow(nominations_);
  return copy;
}

std::vector<ClusterPodRef> SchedulerCache::AssumedPods() const {
  std::vector<std::pair<uint32_t, ClusterPodRef>> found;
  assumed_by_node_.ForEach(
      [&](uint32_t slot, const ClusterPodRef& pod) { found.emplace_back(slot, pod); });
  // Outside of the lock, which each pod that is assumed takes.
  std::vector<ClusterPodRef> pods;
  pods.reserve(found.size());
  for (const auto& [slot, pod] : found) {
    const ClusterNodeRef node = nodes_.NodeAt(slot);
    if (node == nullptr) continue;
    auto assumed = std::make_shared<ClusterPod>(*pod);
    assumed->node_name = node->name;
    pods.push_back(std::move(assumed));
  }
  return pods;
}

SchedulerCache::PodWord& SchedulerCache::WordOf(uint64_t pod_slot) {
  pods_.ReserveThrough(pod_slot);
  return pods_[pod_slot];
}

void SchedulerCache::Put(const ClusterPodRef& pod, uint32_t slot, uint64_t place) {
  pod_book_.Put(pod, slot, place);
  if (pod->volumes != nullptr) volumes_.Put(pod, slot, place);
}

bool SchedulerCache::PutWhereAllowed(const ClusterPodRef& pod, uint32_t slot, uint64_t place) {
  if (!pod_book_.PutWhereAllowed(pod, slot, place)) return false;
  if (pod->volumes == nullptr || volumes_.PutWhereAllowed(pod, slot, place)) return true;
  pod_book_.Drop(pod->slot(), place);
  return false;
}

void SchedulerCache::Drop(const ClusterPod& pod, uint64_t place) {
  pod_book_.Drop(pod.slot(), place);
  if (pod.volumes != nullptr) volumes_.Drop(pod.slot(), place);
}

// A slot may go to another node when the ledger has nothing of the old one's pods any more.
void SchedulerCache::GiveBack(const ClusterPod& pod, uint64_t word) {
  if (!CountsOnANode(word)) return;
  Drop(pod, PlaceOf(word));
  nodes_.Give(SlotOfWord(word), nodes_.resources().DemandOf(pod));
}

void SchedulerCache::Keep(const ClusterChange& change) {
  const ObjectView& object = *change.objects.Latest();
  const std::string name = std::to_string(static_cast<int>(change.is_namespace ? Resource::kWildcard
                                                                               : change.resource)) +
                           (change.is_taint_rule ? " taint rule " : " ") +
                           QualifiedName(object.namespace_name, object.name);
  const std::lock_guard lock(others_mutex_);
  if (change.objects.after == nullptr) {
    others_.erase(name);
    return;
  }
  ClusterChange& kept = others_[name];
  kept = change;
  kept.action = Action::kAdd;
  kept.objects.before = nullptr;
}

void SchedulerCache::Apply(const ClusterChange& change) {
  if (change.is_budget) return budgets_.Apply(change);
  const bool is_other = change.is_namespace ||
                        (change.resource != Resource::kPod && change.resource != Resource::kNode);
  if (knows_groups() && is_other) Keep(change);
  if (change.is_namespace) {
    const ObjectView* const after = change.objects.after.get();
    return pod_book_.SetNamespace(change.objects.Latest()->name,
                                  after != nullptr ? &after->labels : nullptr);
  }
  if (IsOfGroup(change)) return groups_.Apply(change);
  switch (change.resource) {
    case Resource::kPod:
      if (knows_groups()) groups_.Apply(change);
      return ApplyPod(change);
    case Resource::kNode:
      return ApplyNode(change);
    case Resource::kPersistentVolume:
    case Resource::kPersistentVolumeClaim:
    case Resource::kStorageClass:
    case Resource::kCSINode:
      return volumes_.Apply(change);
    default:
      return claims_.Apply(change);
  }
}

// The book hears of a node last, and of its end first: what the columns have and the book does not
// know passes no filter that asks the book.
void SchedulerCache::ApplyNode(const ClusterChange& change) {
  if (change.objects.after != nullptr) {
    const auto node = std::static_pointer_cast<const ClusterNode>(change.objects.after);
    const uint32_t slot = nodes_.SetNode(node);
    volumes_.SetNode(slot, node);
    return pod_book_.SetNode(slot, node);
  }
  const std::string& name = change.objects.before->name;
  if (const auto slot = nodes_.SlotOf(name)) {
    pod_book_.SetNode(*slot, nullptr);
    volumes_.SetNode(*slot, nullptr);
  }
  nodes_.RemoveNode(name);
}

uint64_t SchedulerCache::TakeFromItsNode(const ClusterPod& pod) {
  const uint64_t before =
      Replace(WordOf(pod.slot()), [](uint64_t word) { return word & ~kSlotMask; });
  GiveBack(pod, before);
  // Last: an attempt that does not find the pod any more sees that room has changed.
  if (keeps_pods_ && CountsOnANode(before)) pods_by_node_.Remove(SlotOfWord(before), pod);
  ForgetAssumed(pod, before);
  return before;
}

std::optional<std::string> SchedulerCache::LetGoOfAssumed(const ClusterPod& pod) {
  if (!IsAssumed(pod.slot())) return std::nullopt;
  const uint64_t before = TakeFromItsNode(pod);
  const ClusterNodeRef node =
      CountsOnANode(before) ? nodes_.NodeAt(SlotOfWord(before)) : ClusterNodeRef();
  return node != nullptr ? node->name : "";
}

// A pod that is on its node may come to request more or less.
void SchedulerCache::AdoptRequests(const ClusterChange& change, uint32_t slot) {
  const ClusterPod* const before = change.pod_before.get();
  const ClusterPod& after = *change.pod_after;
  if (before == nullptr || before->node_name.empty() || before->object == after.object) return;
  const NodeDemand had = nodes_.resources().DemandOf(*before);
  const NodeDemand has = nodes_.resources().DemandOf(after);
  if (had == has) return;
  nodes_.Take(after.node_name, has);
  nodes_.Give(slot, had);
}

void SchedulerCache::ApplyPod(const ClusterChange& change) {
  if (change.pod_after == nullptr) {
    TakeFromItsNode(*change.pod_before);
    return;
  }
  const ClusterPod& pod = *change.pod_after;
  if (pod.node_name.empty()) return;
  // Its promises are in its claims by now, or will be when the informers deliver these.
  PodWord& word = WordOf(pod.slot());
  const std::optional<uint32_t> known = nodes_.SlotOf(pod.node_name);
  const uint64_t assumed = word.load();
  const bool counts_there = known && CountsOnANode(assumed) && SlotOfWord(assumed) == *known;
  if (counts_there) {
    AdoptRequests(change, *known);
    if (keeps_pods_) pods_by_node_.Set(*known, change.pod_after);
    const uint64_t before = Replace(word, [](uint64_t before) { return before & ~kAssumed; });
    ForgetAssumed(pod, before);
    // Its labels may have changed.
    if (CountsOnANode(before)) Put(change.pod_after, *known, PlaceOf(before));
    return;
  }
  const uint32_t slot = nodes_.Take(pod.node_name, nodes_.resources().DemandOf(pod));
  if (keeps_pods_) pods_by_node_.Set(slot, change.pod_after);
  const auto changed = [slot](uint64_t before) { return AssumptionBits(before) | SlotBits(slot); };
  const uint64_t before = Replace(word, changed);
  Put(change.pod_after, slot, PlaceOf(changed(before)));
  ForgetAssumed(pod, before);
  GiveBack(pod, before);
}

void SchedulerCache::ForgetAssumed(const ClusterPod& pod, uint64_t word) {
  if (knows_groups() && CountsOnANode(word)) assumed_by_node_.Remove(SlotOfWord(word), pod);
}

bool SchedulerCache::Assume(const ClusterPodRef& assumed, Decision* decision) {
  const ClusterPod& pod = *assumed;
  const NodeDemand demand = nodes_.resources().DemandOf(pod);
  if (!nodes_.Reserve(decision->slot, decision->node_version, demand)) return false;
  if (!framework_of(pod).Reserve(pod, *decision)) {
    nodes_.Give(decision->slot, demand);
    return false;
  }
  constexpr uint64_t kNextAssumption = uint64_t{1} << kAssumptionShift;
  const auto changed = [decision](uint64_t word) {
    return (AssumptionBits(word) + kNextAssumption) | SlotBits(decision->slot) | kAssumed;
  };
  // No other thread begins a place of a pod that is in an attempt.
  PodWord& word = WordOf(pod.slot());
  if (!PutWhereAllowed(assumed, decision->slot, PlaceOf(changed(word.load())))) {
    framework_of(pod).Unreserve(pod, *decision, 0);
    nodes_.Give(decision->slot, demand);
    return false;
  }
  // Before the word: a deletion takes the pod out of here when the word has a node.
  if (knows_groups()) assumed_by_node_.Set(decision->slot, assumed);
  const uint64_t before = Replace(word, changed);
  decision->assumption = AssumptionOf(AssumptionBits(before) + kNextAssumption);
  if (CountsOnANode(before) && SlotOfWord(before) != decision->slot) ForgetAssumed(pod, before);
  GiveBack(pod, before);
  return true;
}

bool SchedulerCache::IsGone(const ClusterPod& pod) const {
  const PodWord* const word = pods_.Find(pod.slot());
  return word == nullptr || !CountsOnANode(word->load());
}

bool SchedulerCache::IsAssumed(uint64_t pod_slot) const {
  const PodWord* const word = pods_.Find(pod_slot);
  return word != nullptr && (word->load() & kAssumed) != 0;
}

void SchedulerCache::Forget(const ClusterPod& pod, const Decision& decision, size_t steps) {
  const auto is_newer = [&](uint64_t word) { return AssumptionOf(word) != decision.assumption; };
  const uint64_t before = Replace(WordOf(pod.slot()), [&](uint64_t word) {
    return is_newer(word) ? word : AssumptionBits(word);
  });
  if (!is_newer(before)) {
    ForgetAssumed(pod, before);
    GiveBack(pod, before);
  }
  framework_of(pod).Unreserve(pod, decision, steps);
}

}  // namespace schedq
