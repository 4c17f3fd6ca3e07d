#include "bench/sim/placing/relations/pod_book.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "bench/sim/placing/relations/pod_counter.h"
#include "engine/label_selector.h"
#include "engine/pod.h"
#include "engine/pod_rules.h"
#include "hints/plugins/node_rules.h"
#include "hints/plugins/pod_terms.h"

namespace schedq {
namespace {

// So many classes, counters and values of labels may be unused before they are dropped, beside some
// for each that is in use.
constexpr size_t kUnusedClassesMax = 1024;
constexpr size_t kUnusedCountersMax = 4096;
constexpr size_t kNodeChangesMax = 65536;
constexpr size_t kCountersPerClass = 64;

constexpr char kHostLabel[] = "kubernetes.io/hostname";
// Of every namespace: its name.
constexpr char kNamespaceLabel[] = "kubernetes.io/metadata.name";

Labels WithName(Labels labels, const std::string& name) {
  if (FindLabel(labels, kNamespaceLabel) == nullptr) SetLabel(&labels, kNamespaceLabel, name);
  return labels;
}

}  // namespace

// --- Classes and counters.

bool PodBook::OnlyKeepsPlaceOf(const ClusterPod& pod) const {
  return !counts_by_class_ && !HasRulesAboutPods(pod);
}

void PodBook::CountByClass() {
  if (std::exchange(counts_by_class_, true)) return;
  for (Record& record : pods_) {
    if (record.alone == nullptr) continue;
    record.pods = FindClass(*record.alone);
    record.alone.reset();
    Change(record, 1);
  }
}

const Labels& PodBook::LabelsOf(const std::string& namespace_name) {
  const auto [place, is_new] = namespaces_.try_emplace(namespace_name);
  if (is_new) place->second = WithName({}, namespace_name);
  return place->second;
}

bool PodBook::IsSelected(const PodTerm& term, const std::string& holder_namespace, const Pod& pod) {
  return Selects(term, holder_namespace, pod.namespace_name, pod.labels,
                 &LabelsOf(pod.namespace_name));
}

PodClassRef PodBook::FindClass(const ClusterPod& pod) {
  PodClassRef& recent = recent_[std::hash<const void*>()(pod.object.get()) / kRecent % kRecent];
  if (recent != nullptr && IsOfClass(pod, *recent)) return recent;
  std::string key = ClassKeyOf(pod);
  const auto found = classes_.find(key);
  PodClassRef pods = found != classes_.end() ? found->second : AddClass(pod, std::move(key));
  recent = pods;
  return pods;
}

PodClassRef PodBook::AddClass(const ClusterPod& pod, std::string key) {
  if (classes_.size() > kUnusedClassesMax + 2 * live_classes_ ||
      counters_.size() > kUnusedCountersMax + kCountersPerClass * live_classes_) {
    Rebuild();
  }
  PodClassRef pods = MakePodClass(pod);
  counters_.ForEachCounter([&](PodCounter* counter) {
    pods->counted_by.insert(pods->counted_by.end(), static_cast<size_t>(counter->TimesOf(*pods)),
                            counter);
  });
  classes_.emplace(std::move(key), pods);
  AddHolders(*pods);
  return pods;
}

void PodBook::AddHolders(const PodClass& pods) {
  for (const HeldTerm& held : HeldTerms(pods.pod)) {
    asks_for_namespaces_ = asks_for_namespaces_ || held.term->namespace_selector.has_value();
    const auto times = [key = held.key](const PodClass& other) {
      const auto [first, last] = std::equal_range(other.held.begin(), other.held.end(), key);
      return static_cast<int64_t>(last - first);
    };
    const CounterTable::Found found =
        counters_.Get(held.key, held.term->topology_key, {}, PodCounter::Kind(times));
    if (!found.is_new) continue;
    CountAll(found.counter);
    holders_.push_back(
        {found.counter, *held.term, pods.pod.namespace_name, held.weight, held.is_required});
    (held.weight == 0 ? keeps_away_ : prefers_).store(true, std::memory_order_relaxed);
  }
}

PodCounter* PodBook::GetCounter(const std::string& key, const std::string& topology_key,
                                const CounterTable::Nodes& nodes, PodCounter::Kind kind) {
  const CounterTable::Found found = counters_.Get(key, topology_key, nodes, std::move(kind));
  if (found.is_new) CountAll(found.counter);
  return found.counter;
}

void PodBook::CountAll(PodCounter* counter) {
  std::unordered_map<const PodClass*, int64_t> times;
  for (const auto& [key, pods] : classes_) {
    const int64_t each = counter->TimesOf(*pods);
    if (each == 0) continue;
    pods->counted_by.insert(pods->counted_by.end(), static_cast<size_t>(each), counter);
    times[pods.get()] = each;
  }
  if (times.empty()) return;
  for (uint32_t slot = 0; slot < on_nodes_.size(); ++slot) {
    for (const OnNode& on_node : on_nodes_[slot]) {
      const auto found = times.find(on_node.pods.get());
      if (found != times.end()) counter->Add(slot, on_node.count * found->second);
    }
  }
}

void PodBook::Rebuild() {
  ++generation_;
  node_changes_ = 0;
  counters_.Clear();
  holders_.clear();
  keeps_away_.store(false, std::memory_order_relaxed);
  prefers_.store(false, std::memory_order_relaxed);
  recent_.fill(nullptr);
  std::erase_if(classes_, [](const auto& each) { return each.second->pods == 0; });
  for (const auto& [key, pods] : classes_) pods->counted_by.clear();
  for (const auto& [key, pods] : classes_) AddHolders(*pods);
}

// --- What pods of a class ask.

const ClassPlan& PodBook::PlanOf(const PodClassRef& pods) {
  if (pods->plan != nullptr && pods->plan->generation == generation_ &&
      pods->plan->holders == holders_.size()) {
    return *pods->plan;
  }
  auto plan = std::make_unique<ClassPlan>();
  plan->generation = generation_;
  plan->holders = holders_.size();
  PlanNeighbours(*pods, plan.get());
  PlanSpread(*pods, true, plan.get());
  PlanSpread(*pods, false, plan.get());
  pods->plan = std::move(plan);
  return *pods->plan;
}

void PodBook::PlanNeighbours(const PodClass& pods, ClassPlan* plan) {
  const PodRulesRef rules_ref = pods.pod.rules;
  const PodRules& rules = RulesOf(pods.pod);
  const std::string& space = pods.pod.namespace_name;
  std::string of_all = "all";
  for (const PodTerm& term : rules.affinity) AppendKey(term, space, &of_all);
  const auto matches_all = [this, rules_ref, space](const PodClass& other) {
    const auto& terms = rules_ref->affinity;
    return int64_t{std::all_of(terms.begin(), terms.end(), [&](const PodTerm& term) {
      return IsSelected(term, space, other.pod);
    })};
  };
  for (const PodTerm& term : rules.affinity) {
    plan->near.push_back(GetCounter(of_all, term.topology_key, {}, matches_all));
  }
  plan->may_be_first = !rules.affinity.empty() && matches_all(pods) != 0;
  const auto counter_of = [&](const PodTerm& term) {
    std::string key = "one";
    AppendKey(term, space, &key);
    // The rules keep the term.
    return GetCounter(key, term.topology_key, {},
                      [this, rules_ref, space, wanted = &term](const PodClass& other) {
                        return int64_t{IsSelected(*wanted, space, other.pod)};
                      });
  };
  for (const PodTerm& term : rules.anti_affinity) plan->away.push_back(counter_of(term));
  for (const auto& each : rules.preferred_affinity) {
    plan->preferences.push_back({counter_of(each.term), each.weight});
  }
  for (const auto& each : rules.preferred_anti_affinity) {
    plan->preferences.push_back({counter_of(each.term), -int64_t{each.weight}});
  }
  for (const Holder& holder : holders_) {
    if (!IsSelected(holder.term, holder.namespace_name, pods.pod)) continue;
    if (holder.weight == 0) {
      plan->away.push_back(holder.counter);
    } else {
      plan->preferences.push_back({holder.counter, holder.weight, holder.is_required});
    }
  }
}

void PodBook::PlanSpread(const PodClass& pods, bool required, ClassPlan* plan) {
  for (const SpreadRule& rule : RulesOf(pods.pod).spread) {
    if (rule.is_required != required) continue;
    const std::optional<LabelSelector> selector = SelectorOf(rule, pods.pod.labels);
    std::string key = "like";
    AppendKey(pods.pod.namespace_name, &key);
    AppendKey(selector.value_or(LabelSelector()), &key);
    // As upstream, a selector without requirements selects the pod itself and counts no other.
    const auto counts = [selector, space = pods.pod.namespace_name](const PodClass& other) {
      return int64_t{selector && !selector->empty() && !other.is_terminating &&
                     other.pod.namespace_name == space &&
                     MatchesLabels(*selector, other.pod.labels)};
    };
    ClassPlan::Spread spread;
    spread.is_by_host = rule.topology_key == kHostLabel;
    CounterTable::Nodes nodes;
    if (required || !spread.is_by_host) {
      nodes.key = required ? "required" : "preferred";
      for (const SpreadRule& each : RulesOf(pods.pod).spread) {
        if (each.is_required == required) AppendKey(each.topology_key, &nodes.key);
      }
      nodes.key += rule.honors_affinity ? 'a' : '-';
      nodes.key += rule.honors_taints ? 't' : '-';
      nodes.key += NodesKeyOf(pods.pod);
      nodes.has = [pod = pods.pod, rule, required](const ClusterNode& node) {
        return HasAllKeys(RulesOf(pod).spread, required, node.labels) && CountsFor(rule, pod, node);
      };
    }
    spread.counter = GetCounter(key, rule.topology_key, nodes, counts);
    spread.max_skew = rule.max_skew;
    spread.min_domains = static_cast<size_t>(rule.min_domains);
    spread.counts_itself = selector && MatchesLabels(*selector, pods.pod.labels);
    (required ? plan->required_spread : plan->preferred_spread).push_back(spread);
  }
}

PodClassRef PodBook::ClassOf(const ClusterPod& pod) {
  const std::lock_guard lock(mutex_);
  CountByClass();
  return FindClass(pod);
}

bool PodBook::HasNeighbourTerms(const PodClassRef& pods) {
  const std::lock_guard lock(mutex_);
  const ClassPlan& plan = PlanOf(pods);
  return !plan.near.empty() || !plan.away.empty();
}

template <typename Passes>
uint64_t PodBook::Pass(const NodeColumns& nodes, const CounterTable& known, size_t block,
                       uint64_t candidates, Passes passes) {
  uint64_t left = 0;
  for (uint64_t rest = candidates; rest != 0; rest &= rest - 1) {
    const auto bit = static_cast<size_t>(std::countr_zero(rest));
    const auto slot = static_cast<uint32_t>(block * kNodesPerBlock + bit);
    if (nodes.node_ref(slot).get() != known.NodeAt(slot) || !passes(slot)) continue;
    left |= uint64_t{1} << bit;
  }
  return left;
}

bool PodBook::HasFreePorts(const PodClass& pods, uint32_t slot) const {
  const auto& wanted = RulesOf(pods.pod).host_ports;
  if (wanted.empty() || slot >= on_nodes_.size()) return true;
  return std::none_of(on_nodes_[slot].begin(), on_nodes_[slot].end(), [&](const OnNode& each) {
    return AnyConflicts(wanted, RulesOf(each.pods->pod).host_ports);
  });
}

uint64_t PodBook::WithFreePorts(const PodClassRef& pods, const NodeColumns& nodes, size_t block,
                                uint64_t candidates) {
  const std::lock_guard lock(mutex_);
  return Pass(nodes, counters_, block, candidates,
              [&](uint32_t slot) { return HasFreePorts(*pods, slot); });
}

uint64_t PodBook::WithNeighbours(const PodClassRef& pods, const NodeColumns& nodes, size_t block,
                                 uint64_t candidates) {
  const std::lock_guard lock(mutex_);
  const ClassPlan& plan = PlanOf(pods);
  return Pass(nodes, counters_, block, candidates,
              [&](uint32_t slot) { return plan.AllowsNeighbours(slot); });
}

uint64_t PodBook::WithEvenSpread(const PodClassRef& pods, const NodeColumns& nodes, size_t block,
                                 uint64_t candidates) {
  const std::lock_guard lock(mutex_);
  const ClassPlan& plan = PlanOf(pods);
  return Pass(nodes, counters_, block, candidates,
              [&](uint32_t slot) { return plan.AllowsSpread(slot); });
}

// Pods come before others go: a class that is looked up may make all counters anew, which drops
// classes without pods.
template <typename Passes>
bool PodBook::PassesChanged(const NodeColumns& nodes, uint32_t slot, const NodeChange& change,
                            Passes passes) {
  const std::lock_guard lock(mutex_);
  if (nodes.node_ref(slot).get() != counters_.NodeAt(slot)) return false;
  std::vector<Record> come;
  std::vector<Record> gone;
  for (const ClusterPodRef& pod : change.added()) {
    if (RecordOf(pod->slot()).pods != nullptr) continue;
    come.push_back({.pods = FindClass(*pod), .alone = nullptr, .slot = slot, .place = 0});
    Change(come.back(), 1);
  }
  for (const ClusterPodRef& pod : change.gone()) {
    const Record& record = RecordOf(pod->slot());
    if (record.pods == nullptr || record.slot != slot) continue;
    gone.push_back(record);
    Change(record, -1);
  }
  const bool passed = passes();
  for (const Record& record : gone) Change(record, 1);
  for (const Record& record : come) Change(record, -1);
  return passed;
}

bool PodBook::WouldHaveFreePorts(const PodClassRef& pods, const NodeColumns& nodes, uint32_t slot,
                                 const NodeChange& change) {
  return PassesChanged(nodes, slot, change, [&] { return HasFreePorts(*pods, slot); });
}

bool PodBook::WouldHaveNeighbours(const PodClassRef& pods, const NodeColumns& nodes, uint32_t slot,
                                  const NodeChange& change) {
  return PassesChanged(nodes, slot, change, [&] { return PlanOf(pods).AllowsNeighbours(slot); });
}

bool PodBook::WouldHaveEvenSpread(const PodClassRef& pods, const NodeColumns& nodes, uint32_t slot,
                                  const NodeChange& change) {
  return PassesChanged(nodes, slot, change, [&] { return PlanOf(pods).AllowsSpread(slot); });
}

bool PodBook::Prefer(const PodClassRef& pods, std::span<const uint32_t> slots,
                     std::span<int64_t> weights, int64_t required_weight) {
  const std::lock_guard lock(mutex_);
  const ClassPlan& plan = PlanOf(pods);
  if (plan.preferences.empty()) return false;
  for (size_t i = 0; i < slots.size(); ++i) {
    weights[i] = 0;
    for (const ClassPlan::Preference& each : plan.preferences) {
      const int64_t weight = each.weight * (each.is_required ? required_weight : 1);
      weights[i] += weight * each.counter->Near(slots[i]);
    }
  }
  return true;
}

bool PodBook::CountLikes(const PodClassRef& pods, std::span<const uint32_t> slots,
                         std::span<int64_t> counts) {
  const std::lock_guard lock(mutex_);
  const auto& rules = PlanOf(pods).preferred_spread;
  if (rules.empty()) return false;
  std::vector<double> sums(slots.size(), 0);
  std::vector<bool> counts_at_all(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    counts_at_all[i] = std::all_of(rules.begin(), rules.end(), [&](const ClassPlan::Spread& rule) {
      return rule.counter->DomainOf(slots[i]) != Domains::kNone;
    });
  }
  for (const ClassPlan::Spread& rule : rules) {
    std::set<int32_t> domains;
    size_t size = 0;
    for (size_t i = 0; i < slots.size(); ++i) {
      if (!counts_at_all[i]) continue;
      size += rule.is_by_host || domains.insert(rule.counter->DomainOf(slots[i])).second ? 1 : 0;
    }
    // The more domains there are, the fewer pods lie in each.
    const double weight = std::log(static_cast<double>(size + 2));
    for (size_t i = 0; i < slots.size(); ++i) {
      sums[i] += static_cast<double>(rule.counter->Near(slots[i])) * weight +
                 static_cast<double>(rule.max_skew - 1);
    }
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    counts[i] = counts_at_all[i] ? std::llround(sums[i]) : -1;
  }
  return true;
}

// --- What changes.

void PodBook::SetNode(uint32_t slot, const ClusterNodeRef& node) {
  const std::lock_guard lock(mutex_);
  if (++node_changes_ > kNodeChangesMax + 2 * counters_.slots()) Rebuild();
  CountOnNode(slot, -1);
  counters_.SetNode(slot, node);
  CountOnNode(slot, 1);
}

void PodBook::SetNamespace(const std::string& name, const Labels* labels) {
  const std::lock_guard lock(mutex_);
  Labels after = WithName(labels != nullptr ? *labels : Labels(), name);
  if (LabelsOf(name) == after) return;
  namespaces_[name] = std::move(after);
  if (asks_for_namespaces_) Rebuild();
}

void PodBook::CountOnNode(uint32_t slot, int64_t sign) {
  if (slot >= on_nodes_.size()) return;
  for (const OnNode& each : on_nodes_[slot]) {
    for (PodCounter* counter : each.pods->counted_by) counter->Add(slot, sign * each.count);
  }
}

PodBook::Record& PodBook::RecordOf(uint64_t pod_slot) {
  if (pod_slot >= pods_.size()) pods_.resize(std::max<size_t>(pod_slot + 1, 2 * pods_.size()));
  return pods_[pod_slot];
}

void PodBook::Change(const Record& record, int64_t sign) {
  PodClass& pods = *record.pods;
  if (sign > 0 && pods.pods == 0) ++live_classes_;
  pods.pods += static_cast<uint64_t>(sign);
  if (sign < 0 && pods.pods == 0) --live_classes_;
  if (record.slot >= on_nodes_.size()) on_nodes_.resize(record.slot + 1);
  auto& on_node = on_nodes_[record.slot];
  auto found = std::find_if(on_node.begin(), on_node.end(),
                            [&](const OnNode& each) { return each.pods == record.pods; });
  if (found == on_node.end()) found = on_node.insert(found, {record.pods, 0});
  found->count += sign;
  if (found->count == 0) on_node.erase(found);
  for (PodCounter* counter : pods.counted_by) counter->Add(record.slot, sign);
}

void PodBook::PutAlone(const ClusterPodRef& pod, uint32_t slot, uint64_t place) {
  RecordOf(pod->slot()) = {.pods = nullptr, .alone = pod, .slot = slot, .place = place};
}

void PodBook::PutInClass(const ClusterPod& pod, const PodClassRef& pods, uint32_t slot,
                         uint64_t place) {
  Record& record = RecordOf(pod.slot());
  if (record.pods != nullptr) Change(record, -1);
  record = {.pods = pods, .alone = nullptr, .slot = slot, .place = place};
  Change(record, 1);
}

void PodBook::Put(const ClusterPodRef& pod, uint32_t slot, uint64_t place) {
  const std::lock_guard lock(mutex_);
  if (OnlyKeepsPlaceOf(*pod)) return PutAlone(pod, slot, place);
  CountByClass();
  Record& record = RecordOf(pod->slot());
  if (record.pods != nullptr && record.slot == slot && IsOfClass(*pod, *record.pods)) {
    record.place = place;
    return;
  }
  PutInClass(*pod, FindClass(*pod), slot, place);
}

bool PodBook::PutWhereAllowed(const ClusterPodRef& pod, uint32_t slot, uint64_t place) {
  const std::lock_guard lock(mutex_);
  if (OnlyKeepsPlaceOf(*pod)) {
    PutAlone(pod, slot, place);
    return true;
  }
  CountByClass();
  const PodClassRef pods = FindClass(*pod);
  if (!Allows(pods, slot)) return false;
  PutInClass(*pod, pods, slot, place);
  return true;
}

bool PodBook::Allows(const PodClassRef& pods, uint32_t slot) {
  if (pods->pod.rules == nullptr && holders_.empty()) return true;
  const ClassPlan& plan = PlanOf(pods);
  return HasFreePorts(*pods, slot) && plan.AllowsNeighbours(slot) && plan.AllowsSpread(slot);
}

void PodBook::Drop(uint64_t pod_slot, uint64_t place) {
  const std::lock_guard lock(mutex_);
  Record& record = RecordOf(pod_slot);
  if (record.place != place) return;
  if (record.pods != nullptr) Change(record, -1);
  record.pods.reset();
  record.alone.reset();
}

}  // namespace schedq
