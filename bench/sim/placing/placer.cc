#include "bench/sim/placing/placer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace schedq {
namespace {

// The highest score of the nodes of the mask.
int32_t Highest(RoomScores::Block scores, uint64_t mask) {
  int32_t highest = INT32_MIN;
  for (size_t i = 0; i < kNodesPerBlock; ++i) {
    highest = std::max(highest, (mask >> i & 1) != 0 ? scores[i] : INT32_MIN);
  }
  return highest;
}

// The first node of the mask with that score, which one of them has.
uint32_t FirstWith(RoomScores::Block scores, size_t block, uint64_t mask, int32_t score) {
  while (scores[static_cast<size_t>(std::countr_zero(mask))] != score) mask &= mask - 1;
  return static_cast<uint32_t>(block * kNodesPerBlock +
                               static_cast<size_t>(std::countr_zero(mask)));
}

}  // namespace

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
  LookAtNodes(&attempt, &decision);
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
  for (const auto& plugin : plugins_) {
    const PreFilterAnswer answer = plugin->PreFilter(attempt);
    if (answer == PreFilterAnswer::kReject) {
      decision->rejectors = BitOf(plugin->id());
      return false;
    }
    if (answer == PreFilterAnswer::kSkip) continue;
    asked_.push_back(plugin.get());
    if (plugin->FiltersOne(*attempt)) asked_alone_.push_back(plugin.get());
  }
  return true;
}

void Placer::LookAtNodes(PlacingAttempt* attempt, Decision* decision) {
  const size_t blocks = nodes_.blocks();
  const size_t wanted = NodesToFind(nodes_.nodes());
  feasible_.clear();
  size_t found = 0;
  for (size_t i = 0; i < blocks; ++i) {
    const size_t block = next_block_ < blocks ? next_block_ : 0;
    next_block_ = block + 1;
    const uint64_t passed = Filter(*attempt, block, decision);
    if (passed == 0) continue;
    feasible_.push_back({block, passed});
    found += static_cast<size_t>(std::popcount(passed));
    if (found < wanted) continue;
    if (TakeBest(attempt, decision)) return;
    feasible_.clear();
    found = 0;
  }
  TakeBest(attempt, decision);
}

uint64_t Placer::Filter(const PlacingAttempt& attempt, size_t block, Decision* decision) const {
  uint64_t feasible = nodes_.known(block);
  for (const PlacingPlugin* plugin : asked_) {
    if (feasible == 0) return 0;
    const uint64_t passed = plugin->Filter(attempt, nodes_, block, feasible);
    if (passed != feasible) decision->rejectors |= BitOf(plugin->id());
    feasible = passed;
  }
  return feasible;
}

void Placer::Rank(PlacingAttempt* attempt) {
  candidates_.clear();
  scorers_.clear();
  for (const auto& plugin : plugins_) {
    if (plugin->PreScore(attempt, nodes_)) scorers_.push_back(plugin.get());
  }
  const bool needs_all = !asked_alone_.empty() || !scorers_.empty();
  room_scores_.Begin(*attempt);
  Candidate best{INT64_MIN, UINT32_MAX};
  for (const Feasible& each : feasible_) {
    const RoomScores::Block scores = room_scores_.Of(*attempt, each.block, each.nodes);
    if (needs_all) {
      ForEachNode(each.block, each.nodes, [&](uint32_t slot) {
        candidates_.push_back({scores[slot % kNodesPerBlock], slot});
      });
    } else if (const int32_t highest = Highest(scores, each.nodes); highest >= best.score) {
      const Candidate candidate{highest, FirstWith(scores, each.block, each.nodes, highest)};
      if (candidate.IsBetterThan(best)) best = candidate;
    }
  }
  if (!needs_all) candidates_.push_back(best);
  if (!scorers_.empty()) AddScores(*attempt);
}

void Placer::AddScores(const PlacingAttempt& attempt) {
  slots_.clear();
  for (const Candidate& candidate : candidates_) slots_.push_back(candidate.slot);
  for (const PlacingPlugin* plugin : scorers_) {
    scores_.assign(slots_.size(), 0);
    plugin->Score(attempt, nodes_, slots_, scores_);
    for (size_t i = 0; i < scores_.size(); ++i) {
      candidates_[i].score += plugin->weight() * scores_[i];
    }
  }
}

bool Placer::TakeBest(PlacingAttempt* attempt, Decision* decision) {
  if (feasible_.empty()) return false;
  Rank(attempt);
  const auto is_worse = [](const Candidate& a, const Candidate& b) { return b.IsBetterThan(a); };
  std::make_heap(candidates_.begin(), candidates_.end(), is_worse);
  while (!candidates_.empty()) {
    std::pop_heap(candidates_.begin(), candidates_.end(), is_worse);
    const uint32_t best = candidates_.back().slot;
    candidates_.pop_back();
    const ClusterNode& node = nodes_.node(best);
    if (!PassesAlone(*attempt, node, decision)) continue;
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
