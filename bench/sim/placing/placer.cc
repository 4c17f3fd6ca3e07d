#include "bench/sim/placing/placer.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace schedq {

size_t NodesToFind(size_t nodes) {
  constexpr size_t kNodesMin = 100;
  constexpr size_t kPercentMin = 5;
  if (nodes < kNodesMin) return nodes;
  const size_t less = nodes / 125;
  const size_t percent = less < 50 - kPercentMin ? 50 - less : kPercentMin;
  return std::max(kNodesMin, nodes * percent / 100);
}

Placer::Placer(const SchedulerCache* cache) : nodes_(&cache->nodes()), plugins_(cache->plugins()) {}

Decision Placer::Decide(const ClusterPod& pod) {
  nodes_.Refresh();
  Decision decision;
  PlacingAttempt attempt;
  attempt.pod = &pod;
  if (!PreFilter(&attempt, &decision)) return decision;
  LookAtNodes(attempt, &decision);
  if (decision.node.empty()) {
    decision.nodes_looked_at = nodes_.nodes();
    return decision;
  }
  decision.rejectors = 0;
  decision.nodes_looked_at = NodesToFind(nodes_.nodes());
  if (Choose(attempt, &decision)) return decision;
  decision.node.clear();
  decision.was_overtaken = true;
  return decision;
}

bool Placer::Choose(const PlacingAttempt& attempt, Decision* decision) const {
  return std::all_of(plugins_.begin(), plugins_.end(),
                     [&](const auto& plugin) { return plugin->Choose(attempt, decision); });
}

bool Placer::PreFilter(PlacingAttempt* attempt, Decision* decision) {
  asked_.clear();
  asked_alone_.clear();
  for (size_t i = 0; i < kPlacingPlugins; ++i) {
    const PreFilterAnswer answer = plugins_[i]->PreFilter(attempt);
    if (answer == PreFilterAnswer::kReject) {
      decision->rejectors = 1u << i;
      return false;
    }
    if (answer == PreFilterAnswer::kSkip) continue;
    asked_.push_back(plugins_[i].get());
    if (plugins_[i]->FiltersOne(*attempt)) asked_alone_.push_back(plugins_[i].get());
  }
  return true;
}

void Placer::LookAtNodes(const PlacingAttempt& attempt, Decision* decision) {
  const size_t blocks = nodes_.blocks();
  const size_t wanted = NodesToFind(nodes_.nodes());
  candidates_.clear();
  size_t found = 0;
  for (size_t i = 0; i < blocks; ++i) {
    const size_t block = next_block_ < blocks ? next_block_ : 0;
    next_block_ = block + 1;
    found += LookAtBlock(attempt, block, decision);
    if (found < wanted) continue;
    if (TakeBest(attempt, decision)) return;
    found = 0;
  }
  TakeBest(attempt, decision);
}

size_t Placer::LookAtBlock(const PlacingAttempt& attempt, size_t block, Decision* decision) {
  uint64_t feasible = nodes_.known(block);
  for (const PlacingPlugin* plugin : asked_) {
    if (feasible == 0) return 0;
    const uint64_t passed = plugin->Filter(attempt, nodes_, block, feasible);
    if (passed != feasible) decision->rejectors |= BitOf(plugin->id());
    feasible = passed;
  }
  if (feasible == 0) return 0;
  BlockScores scores{};
  for (const auto& plugin : plugins_) plugin->Score(attempt, nodes_, block, feasible, &scores);
  size_t count = 0;
  ForEachNode(block, feasible, [&](uint32_t slot) {
    ++count;
    const Candidate candidate{scores[slot % kNodesPerBlock], slot};
    if (candidates_.empty() || !asked_alone_.empty()) {
      candidates_.push_back(candidate);
    } else if (candidate.IsBetterThan(candidates_[0])) {
      candidates_[0] = candidate;
    }
  });
  return count;
}

bool Placer::TakeBest(const PlacingAttempt& attempt, Decision* decision) {
  const auto is_worse = [](const Candidate& a, const Candidate& b) { return b.IsBetterThan(a); };
  std::make_heap(candidates_.begin(), candidates_.end(), is_worse);
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), is_worse);
    const uint32_t best = candidates_.back().slot;
    candidates_.pop_back();
    const ClusterNode& node = nodes_.node(best);
    if (!PassesAlone(attempt, node, decision)) continue;
    decision->node = node.name;
    decision->slot = best;
    decision->node_version = nodes_.node_version(best);
    return true;
  }
  return false;
}

bool Placer::PassesAlone(const PlacingAttempt& attempt, const ClusterNode& node,
                         Decision* decision) const {
  for (const PlacingPlugin* plugin : asked_alone_) {
    if (plugin->FilterOne(attempt, node)) continue;
    decision->rejectors |= BitOf(plugin->id());
    return false;
  }
  return true;
}

}  // namespace schedq
