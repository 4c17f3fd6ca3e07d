#include "bench/sim/placing/placer.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/sim/placing/victim_audit.h"

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

// The first place, in the order that `turn` gives the nodes of a block, whose node is in the mask
// and has that score. One of them has.
uint32_t FirstWith(RoomScores::Block scores, uint64_t mask, int32_t score, uint32_t turn) {
  const auto has = [&](uint32_t at) { return (mask >> at & 1) != 0 && scores[at] == score; };
  uint32_t place = 0;
  while (!has(place ^ turn)) ++place;
  return place;
}

}  // namespace

size_t NodesToFind(size_t nodes, size_t percentage) {
  constexpr size_t kNodesMin = 100;
  constexpr size_t kPercentMin = 5;
  if (nodes < kNodesMin) return nodes;
  const size_t less = nodes / 125;
  const size_t adapted = less < 50 - kPercentMin ? 50 - less : kPercentMin;
  const size_t percent = percentage != 0 ? percentage : adapted;
  return std::max(kNodesMin, nodes * percent / 100);
}

Placer::Placer(const SchedulerCache* cache, const Framework& framework, const Random& random)
    : cache_(*cache),
      framework_(framework),
      percentage_(static_cast<size_t>(framework.profile().percentage_of_nodes.value_or(0))),
      nodes_(&cache->nodes()),
      random_(random) {}

uint64_t Placer::KnownIn(size_t block) const {
  const uint64_t known = nodes_.known(block);
  return scope_.placement != nullptr ? known & scope_.placement->Of(block) : known;
}

size_t Placer::NodesInScope() const {
  return scope_.placement != nullptr ? scope_.placement->count : nodes_.nodes();
}

Decision Placer::Decide(const ClusterPod& pod, const Scope& scope) {
  scope_ = scope;
  nodes_.Refresh();
  // In a group's cycle nodes differ from member to member.
  signature_ = scope.assumed == nullptr ? SignatureOf(pod, framework_.profile()) : std::nullopt;
  turn_ = static_cast<uint32_t>(random_.Next());
  Decision decision;
  PlacingAttempt attempt;
  attempt.pod = &pod;
  attempt.now = scope.time.now;
  attempt.group_cycle = scope.group_cycle;
  if (!PreFilter(&attempt, &decision)) {
    PostFilter(attempt, &decision);
    return decision;
  }
  decision.nodes_looked_at = 1;
  const std::string& nominated = pod.nominated_node_name;
  if (!nominated.empty() && TakeIfPasses(attempt, nominated, &decision)) {
    shared_.Forget();
  } else if (nominated.empty() && TakeShared(&attempt, &decision)) {
    decision.nodes_looked_at = 2;  // And that of the last pod.
  } else {
    LookAtNodes(&attempt, &decision);
    decision.nodes_looked_at = Wanted();
    if (!decision.node.empty()) ShareSearch();
  }
  if (attempt.claims != nullptr && !attempt.claims->error.empty()) {
    // An error of a plugin fails the attempt, whatever others say of the nodes.
    decision.node.clear();
    decision.rejectors = 0;
    return decision;
  }
  if (!decision.node.empty()) shared_.Placed(decision.slot, scope.time);
  if (decision.node.empty()) {
    decision.nodes_looked_at = NodesInScope();
    if (attempt.claims != nullptr) decision.idle_claim = attempt.claims->IdleClaim(pod);
    PostFilter(attempt, &decision);
    return decision;
  }
  decision.rejectors = 0;
  attempt.node = &nodes_.node(decision.slot);
  if (Choose(attempt, &decision)) return decision;
  decision.node.clear();
  decision.was_overtaken = true;
  return decision;
}

Decision Placer::DecideOn(const ClusterPod& pod, const std::string& node, const Scope& scope) {
  scope_ = scope;
  nodes_.Refresh();
  Decision decision;
  PlacingAttempt attempt;
  attempt.pod = &pod;
  attempt.now = scope.time.now;
  attempt.group_cycle = scope.group_cycle;
  if (!PreFilter(&attempt, &decision)) return decision;
  decision.nodes_looked_at = 1;
  if (!TakeIfPasses(attempt, node, &decision)) return decision;
  attempt.node = &nodes_.node(decision.slot);
  if (!Choose(attempt, &decision)) decision.node.clear();
  return decision;
}

bool Placer::Choose(const PlacingAttempt& attempt, Decision* decision) const {
  const auto& asked = framework_.At(ExtensionPoint::kReserve);
  return std::all_of(asked.begin(), asked.end(), [&](const Framework::Numbered& each) {
    return each.plugin->Choose(attempt, decision);
  });
}

bool Placer::PreFilter(PlacingAttempt* attempt, Decision* decision) {
  asked_.clear();
  asked_alone_.clear();
  is_hopeless_ = false;
  for (const Framework::Numbered& each : framework_.At(ExtensionPoint::kFilter)) {
    const PreFilterAnswer answer = each.plugin->PreFilter(attempt);
    if (answer == PreFilterAnswer::kReject) {
      decision->rejectors = Framework::BitOf(each.number);
      is_hopeless_ = true;
      return false;
    }
    if (answer == PreFilterAnswer::kSkip) continue;
    asked_.push_back(each);
    if (each.plugin->FiltersOne(*attempt)) asked_alone_.push_back(each);
  }
  asks_alone_ = !asked_alone_.empty() || cache_.nominations().MayBeAny();
  return true;
}

bool Placer::TakeIfPasses(const PlacingAttempt& attempt, const std::string& node,
                          Decision* decision) {
  const std::optional<uint32_t> slot = SlotOf(node);
  if (!slot || !Passes(attempt, *slot)) return false;
  Take(*slot, decision);
  return true;
}

bool Placer::Passes(const PlacingAttempt& attempt, uint32_t slot) const {
  const size_t block = slot / kNodesPerBlock;
  if (block >= nodes_.blocks() || (KnownIn(block) & BitOfNode(slot)) == 0) return false;
  for (const Framework::Numbered& each : asked_) {
    if (each.plugin->Filter(attempt, nodes_, block, BitOfNode(slot)) == 0) return false;
  }
  // What rejects here is asked again with all nodes.
  Decision unused;
  return PassesAlone(attempt, slot, &unused);
}

bool Placer::TakeShared(PlacingAttempt* attempt, Decision* decision) {
  if (!signature_) return false;
  decision->sharing = Sharing::kNoHint;
  if (!shared_.Serves(*signature_, scope_.time)) return false;
  if (Passes(*attempt, shared_.last_slot())) RankAgain(attempt);
  if (shared_.slots().empty()) return false;
  const uint32_t best = shared_.TakeBest();
  decision->sharing = Passes(*attempt, best) ? Sharing::kUsed : Sharing::kNotUsed;
  if (decision->sharing == Sharing::kNotUsed) return false;
  Take(best, decision);
  return true;
}

void Placer::RankAgain(PlacingAttempt* attempt) {
  std::vector<uint32_t> slots = shared_.slots();
  slots.push_back(shared_.last_slot());
  std::sort(slots.begin(), slots.end());
  feasible_.clear();
  for (const uint32_t slot : slots) {
    const size_t block = slot / kNodesPerBlock;
    if ((nodes_.known(block) & BitOfNode(slot)) == 0) continue;
    if (feasible_.empty() || feasible_.back().block != block) feasible_.push_back({block, 0});
    feasible_.back().nodes |= BitOfNode(slot);
  }
  Rank(attempt);
  shared_.Replace(TakeRanking());
}

void Placer::ShareSearch() {
  if (!signature_) return shared_.Forget();
  shared_.Keep(*signature_, TakeRanking(), scope_.time.now);
}

std::vector<uint32_t> Placer::TakeRanking() {
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return b.IsBetterThan(a); });
  std::vector<uint32_t> slots;
  for (const Candidate& candidate : candidates_) slots.push_back(Turned(candidate.order));
  candidates_.clear();
  return slots;
}

std::optional<uint32_t> Placer::SlotOf(const std::string& node) const {
  return nodes_.SlotOf(node);
}

void Placer::LookAtNodes(PlacingAttempt* attempt, Decision* decision) {
  const size_t blocks = nodes_.blocks();
  const size_t wanted = Wanted();
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
  uint64_t feasible = KnownIn(block);
  for (const Framework::Numbered& each : asked_) {
    if (feasible == 0) return 0;
    const uint64_t passed = each.plugin->Filter(attempt, nodes_, block, feasible);
    if (passed != feasible) decision->rejectors |= Framework::BitOf(each.number);
    feasible = passed;
  }
  return feasible;
}

void Placer::Rank(PlacingAttempt* attempt) {
  candidates_.clear();
  scorers_.clear();
  for (const Framework::Numbered& each : framework_.At(ExtensionPoint::kScore)) {
    if (each.plugin->PreScore(attempt, nodes_)) scorers_.push_back(each);
  }
  const bool needs_all = asks_alone_ || !scorers_.empty() || signature_.has_value();
  room_scores_.Begin(*attempt);
  Candidate best{INT64_MIN, UINT32_MAX};
  for (const Feasible& each : feasible_) {
    const RoomScores::Block scores = room_scores_.Of(*attempt, each.block, each.nodes);
    if (needs_all) {
      ForEachNode(each.block, each.nodes, [&](uint32_t slot) {
        candidates_.push_back({scores[slot % kNodesPerBlock], Turned(slot)});
      });
    } else if (const int32_t highest = Highest(scores, each.nodes); highest >= best.score) {
      const uint32_t first = Turned(static_cast<uint32_t>(each.block * kNodesPerBlock));
      const uint32_t turn_inside = turn_ % kNodesPerBlock;
      const uint32_t place = FirstWith(scores, each.nodes, highest, turn_inside);
      const Candidate candidate{highest, first - turn_inside + place};
      if (candidate.IsBetterThan(best)) best = candidate;
    }
  }
  if (!needs_all) candidates_.push_back(best);
  if (!scorers_.empty()) AddScores(*attempt);
}

void Placer::AddScores(const PlacingAttempt& attempt) {
  slots_.clear();
  for (const Candidate& candidate : candidates_) slots_.push_back(Turned(candidate.order));
  for (const Framework::Numbered& each : scorers_) {
    scores_.assign(slots_.size(), 0);
    each.plugin->Score(attempt, nodes_, slots_, scores_);
    for (size_t i = 0; i < scores_.size(); ++i) {
      candidates_[i].score += each.weight * scores_[i];
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
    const uint32_t best = Turned(candidates_.back().order);
    candidates_.pop_back();
    if (!PassesAlone(*attempt, best, decision)) continue;
    Take(best, decision);
    return true;
  }
  return false;
}

void Placer::Take(uint32_t slot, Decision* decision) const {
  decision->node = nodes_.node(slot).name;
  decision->slot = slot;
  decision->node_version = nodes_.node_version(slot);
}

bool Placer::PassesAlone(const PlacingAttempt& attempt, uint32_t slot, Decision* decision) const {
  for (const Framework::Numbered& each : asked_alone_) {
    if (each.plugin->FilterOne(attempt, nodes_.node(slot))) continue;
    decision->rejectors |= Framework::BitOf(each.number);
    return false;
  }
  if (!cache_.nominations().MayBeAny()) return true;
  NodeChange change;
  AddNominated(attempt, slot, &change);
  const Framework::Numbered* const rejector =
      change.empty() ? nullptr : RejectorOf(attempt, slot, change);
  if (rejector != nullptr) decision->rejectors |= Framework::BitOf(rejector->number);
  return rejector == nullptr;
}

const Framework::Numbered* Placer::RejectorOf(const PlacingAttempt& attempt, uint32_t slot,
                                              const NodeChange& change) const {
  const auto found = std::find_if(asked_.begin(), asked_.end(), [&](const auto& each) {
    return !each.plugin->FilterChanged(attempt, nodes_, slot, change);
  });
  return found == asked_.end() ? nullptr : &*found;
}

void Placer::AddNominated(const PlacingAttempt& attempt, uint32_t slot, NodeChange* change) const {
  const std::string& node = nodes_.node(slot).name;
  for (const ClusterPodRef& pod : cache_.nominations().AheadOf(*attempt.pod, node)) {
    if (scope_.assumed != nullptr && scope_.assumed->count(pod->number) != 0) continue;
    change->Add(pod, cache_.nodes().resources().DemandOf(*pod));
  }
}

// The pods of a node are looked at later than its room. Where one of them has gone in between, its
// room would be looked for among the others.
bool Placer::HasChangedSince(const std::string& node) {
  const std::optional<uint32_t> slot = SlotOf(node);
  if (!slot) return true;
  const auto version = [this, slot] {
    return nodes_.room_versions(*slot / kNodesPerBlock)[*slot % kNodesPerBlock];
  };
  const uint32_t before = version();
  nodes_.Refresh();
  return version() != before;
}

class Placer::Search final : public FailedSearch {
 public:
  Search(const Placer* placer, const PlacingAttempt* attempt, size_t first_block)
      : placer_(*placer), attempt_(*attempt), first_block_(first_block) {}

  const PlacingAttempt& attempt() const override { return attempt_; }
  const NodeColumns& nodes() const override { return placer_.nodes_; }
  size_t first_block() const override { return first_block_; }
  std::optional<uint32_t> SlotOf(const std::string& node) const override {
    return placer_.SlotOf(node);
  }
  bool WouldPass(uint32_t slot, const NodeChange& change) const override {
    if (placer_.is_hopeless_) return false;
    if (!placer_.cache_.nominations().MayBeAny()) {
      return placer_.RejectorOf(attempt_, slot, change) == nullptr;
    }
    NodeChange with_nominated = change;
    placer_.AddNominated(attempt_, slot, &with_nominated);
    return placer_.RejectorOf(attempt_, slot, with_nominated) == nullptr;
  }

 private:
  const Placer& placer_;
  const PlacingAttempt& attempt_;
  const size_t first_block_;
};

// Also where PreFilter rejected: victims of before may still be going.
void Placer::PostFilter(const PlacingAttempt& attempt, Decision* decision) {
  if (scope_.assumed != nullptr) return;
  const size_t first_block = nodes_.blocks() == 0 ? 0 : random_.Below(nodes_.blocks());
  for (const Framework::Numbered& each : framework_.At(ExtensionPoint::kPostFilter)) {
    const Search search(this, &attempt, first_block);
    std::optional<PostFilterResult> result = each.plugin->PostFilter(search);
    if (!result) continue;
    if (!result->victims.empty() && HasChangedSince(result->node)) {
      decision->was_overtaken = true;
      return;
    }
    if (faults_ != nullptr && each.plugin->name() == "DefaultPreemption") Audit(search, *result);
    decision->post_filter = std::make_shared<const PostFilterResult>(std::move(*result));
    return;
  }
}

void Placer::Audit(const FailedSearch& search, const PostFilterResult& result) const {
  constexpr size_t kFaultsMax = 10;
  if (result.victims.empty() || faults_->size() == kFaultsMax) return;
  std::string fault = FaultOfVictims(search, result, cache_);
  if (!fault.empty()) faults_->push_back(std::move(fault));
}

}  // namespace schedq
