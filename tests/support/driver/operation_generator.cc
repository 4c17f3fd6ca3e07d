#include "tests/support/driver/operation_generator.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>

#include "engine/event.h"
#include "engine/queue_answers.h"
#include "engine/queueing_fields.h"
#include "hints/recorded/trace_plugins.h"

namespace schedq {
namespace {

// There are few names, so that each pod has many operations. Short names repeat.
constexpr std::array<const char*, 12> kNames = {"one/a", "one/b", "one/c", "one/d",
                                                "one/e", "one/f", "one/g", "two/a",
                                                "two/b", "two/c", "two/d", "two/h"};

bool NamesAPod(TraceOp op) {
  switch (op) {
    case TraceOp::kAdd:
    case TraceOp::kUpdate:
    case TraceOp::kDelete:
    case TraceOp::kBind:
    case TraceOp::kFail:
    case TraceOp::kActivate:
    case TraceOp::kNominate:
      return true;
    default:
      return false;
  }
}

}  // namespace

TraceOperation OperationGenerator::Next(const StateJudge& judge, const Replayer& replayer,
                                        const Coverage& reached) {
  CollectCandidates(judge, replayer);
  TraceOperation operation;
  const Candidate* target = nullptr;
  operation.op = ChooseOp(reached, &target);
  if (!group_names_.empty()) operation.op = PossibleNow(operation.op, judge.groups());
  Advance(&operation);
  Fill(&operation, target);
  if (NeedsGroups(operation.op)) FillGroup(&operation, judge.groups());
  DrawAnswers(&operation);
  return operation;
}

TraceOp OperationGenerator::ChooseOp(const Coverage& reached, const Candidate** target) {
  TraceOp op = TraceOp::kPop;
  const auto gone = std::count_if(candidates_.begin(), candidates_.end(),
                                  [](const Candidate& each) { return each.live == nullptr; });
  if (gone > 3 && random_.Chance(0.5)) {
    op = TraceOp::kAdd;  // Pods that were deleted or bound must be added again.
    *target = DrawTarget(op, std::nullopt);
  } else if (const auto cell = LeastReached(reached); cell && random_.Chance(0.5)) {
    op = cell->first;
    if (NamesAPod(op)) *target = DrawTarget(op, cell->second);
  } else {
    op = cell || random_.Chance(0.3) ? DrawOp() : DrawTowardsBackoff();
    if (NamesAPod(op)) *target = DrawTarget(op, std::nullopt);
  }
  return NamesAPod(op) && *target == nullptr ? TraceOp::kPop : op;
}

void OperationGenerator::CollectCandidates(const StateJudge& judge, const Replayer& replayer) {
  candidates_.clear();
  due_.clear();
  for (const char* name : kNames) {
    Candidate candidate{.name = name, .place = Place::kAbsent, .live = nullptr};
    const auto entry = replayer.pods().entries().find(name);
    if (entry != replayer.pods().entries().end()) {
      const PodWhereabouts& where = judge.seen().at(name);
      candidate.place = where.place;
      candidate.live = entry->second.live;
      candidate.in_flight = !entry->second.in_flight.empty();
      candidate.may_fail = !judge.groups().cycle() || !judge.IsOfSinglePod(name);
      if (InPool(where.place)) {
        const QueueingFields& fields = where.fields;
        due_.push_back(std::max(fields.timestamp, fields.flush_timestamp.value_or(Instant::min())) +
                       header_.max_in_unschedulable);
      }
    }
    candidates_.push_back(std::move(candidate));
  }
}

bool OperationGenerator::Fits(TraceOp op, const Candidate& candidate) {
  if (op == TraceOp::kAdd) return candidate.live == nullptr;
  if (op == TraceOp::kUpdate) return candidate.live != nullptr;
  if (op == TraceOp::kFail && !candidate.may_fail) return false;
  return candidate.live != nullptr || candidate.in_flight;
}

std::optional<std::pair<TraceOp, Place>> OperationGenerator::LeastReached(const Coverage& reached) {
  std::vector<std::pair<TraceOp, Place>> least;
  uint64_t least_of_all = ~uint64_t{0};
  uint64_t count = ~uint64_t{0};
  const bool pops_from_backoff = header_.gates.PopFromBackoffQ();
  for (int i = 0; i < kTraceOpCount; ++i) {
    const auto op = static_cast<TraceOp>(i);
    std::array<bool, kPlaceCount> at_hand{};
    for (const Candidate& candidate : candidates_) {
      if (NamesAPod(op) && !Fits(op, candidate)) continue;
      at_hand[static_cast<int>(candidate.place)] = true;
    }
    for (int j = 0; j < kPlaceCount; ++j) {
      const auto place = static_cast<Place>(j);
      if (!reached.WhyInfeasible(op, place, pops_from_backoff).empty()) continue;
      const uint64_t here = reached.At(op, place, Coverage::GatesIndex(header_.gates));
      least_of_all = std::min(least_of_all, here);
      if (!at_hand[j]) continue;
      if (here < count) least.clear();
      if (here <= count) least.emplace_back(op, place);
      count = std::min(count, here);
    }
  }
  if (least.empty() || count > least_of_all + least_of_all / 4 + 2) return std::nullopt;
  return least[random_.Below(least.size())];
}

// Brings pods to backoff, where they stay for the shortest time: fails pods in flight, else pops
// active pods, else wakes rejected pods by an event.
TraceOp OperationGenerator::DrawTowardsBackoff() {
  const auto any_in = [&](Place place) {
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [&](const Candidate& each) { return each.place == place; });
  };
  if (random_.Chance(0.2)) return TraceOp::kEvent;
  if (any_in(Place::kInFlight)) return TraceOp::kFail;
  return any_in(Place::kActive) ? TraceOp::kPop : TraceOp::kEvent;
}

TraceOp OperationGenerator::DrawOp() {
  using Weights = std::array<int, kTraceOpCount>;  // In the order of TraceOp.
  static constexpr Weights kWithoutGroups = {12, 8, 1, 2, 30, 12, 2, 1, 8, 2, 2, 1, 0};
  static constexpr Weights kWithGroups = {12, 8, 1, 2, 30, 12, 2, 1, 8, 2,
                                          2,  1, 0, 4, 2,  2,  3, 1, 1, 12};
  const Weights& weights = group_names_.empty() ? kWithoutGroups : kWithGroups;
  int sum = 0;
  for (const int weight : weights) sum += weight;
  auto draw = static_cast<int>(random_.Below(static_cast<uint64_t>(sum)));
  int op = 0;
  while (draw >= weights[op]) draw -= weights[op++];
  return static_cast<TraceOp>(op);
}

const OperationGenerator::Candidate* OperationGenerator::DrawTarget(TraceOp op,
                                                                    std::optional<Place> place) {
  std::vector<const Candidate*> fitting;
  for (const Candidate& candidate : candidates_) {
    if (Fits(op, candidate) && candidate.place == place.value_or(candidate.place)) {
      fitting.push_back(&candidate);
    }
  }
  if (!place && op == TraceOp::kFail) {
    // Most are in flight, because the queue refuses to fail a queued pod.
    const bool flying = random_.Chance(0.9);
    std::erase_if(fitting, [&](const Candidate* each) { return each->in_flight != flying; });
  }
  return fitting.empty() ? nullptr : fitting[random_.Below(fitting.size())];
}

void OperationGenerator::Advance(TraceOperation* operation) {
  const int64_t start_ms = header_.start.time_since_epoch() / std::chrono::milliseconds(1) % 1000;
  const int64_t into_second = (start_ms + time_ms_) % 1000;
  const uint64_t draw = random_.Below(100);
  if (draw < 30) {
    time_ms_ += random_.Between(1, 40);
  } else if (draw < 38) {
    // The boundary of a second of absolute time, or a millisecond before or after it.
    time_ms_ = std::max(time_ms_, time_ms_ + 1000 - into_second + random_.Between(-1, 1));
  } else if (draw < 42) {
    time_ms_ += random_.Between(100, 3000);
  } else if (draw < 43) {
    time_ms_ += 30000;
  } else if (draw < 44) {
    time_ms_ = std::max(time_ms_, FlushBoundary());
  }
  const bool stamps = operation->op == TraceOp::kAdd || operation->op == TraceOp::kFail ||
                      operation->op == TraceOp::kGroupDone;
  if (stamps) {
    time_ms_ = stamped_ms_ = std::max(time_ms_, stamped_ms_ + 1);
  }
  operation->time_ms = time_ms_;
}

// The instant at which some pod in the pool becomes due, or a millisecond later.
int64_t OperationGenerator::FlushBoundary() {
  if (due_.empty()) return 0;
  return MillisecondsSince(header_.start, due_[random_.Below(due_.size())]) + random_.Between(0, 1);
}

void OperationGenerator::Fill(TraceOperation* operation, const Candidate* target) {
  switch (operation->op) {
    case TraceOp::kAdd:
      operation->pod = NewPod(*target);
      break;
    case TraceOp::kUpdate:
      operation->pod = ChangedPod(*target->live);
      break;
    case TraceOp::kFail:
      operation->pod_name = target->name;
      if (random_.Chance(0.75)) operation->unschedulable = SomePlugins(0.4);
      if (random_.Chance(0.3)) operation->pending = SomePlugins(0.3);
      break;
    case TraceOp::kDelete:
    case TraceOp::kBind:
      operation->pod_name = target->name;
      break;
    case TraceOp::kActivate:
      operation->pod_names = {target->name};
      if (random_.Chance(0.3)) {
        const Candidate* other = DrawTarget(TraceOp::kActivate, std::nullopt);
        if (other != nullptr && other != target) operation->pod_names.push_back(other->name);
      }
      break;
    case TraceOp::kNominate:
      operation->pod_name = target->name;
      operation->node = SomeNode();
      break;
    case TraceOp::kNominated:
      operation->node = SomeNode();
      break;
    case TraceOp::kEvent:
      DrawEvent(operation);
      break;
    default:
      break;
  }
}

PodRef OperationGenerator::NewPod(const Candidate& target) {
  auto pod = std::make_shared<Pod>();
  const size_t slash = target.name.find('/');
  pod->namespace_name = target.name.substr(0, slash);
  pod->name = target.name.substr(slash + 1);
  // A pod that is added again mostly has another uid, sometimes the same one.
  std::string& uid = last_uids_[target.name];
  // With groups always: a member that is added while its uid is in flight has no rule.
  if (uid.empty() || !group_names_.empty() || random_.Chance(0.7))
    uid = "uid-" + std::to_string(++uids_);
  pod->uid = uid;
  pod->priority = static_cast<int32_t>(random_.Between(-1, 2));
  if (random_.Chance(0.15)) pod->scheduling_gates = {"gate"};
  if (random_.Chance(0.4)) pod->claims = {Pick({"c1", "c2", "c3"})};
  if (!group_names_.empty() && random_.Chance(0.5)) pod->group_name = Pick({"g1", "g2", "g3"});
  for (uint64_t changes = random_.Below(3); changes > 0; --changes) Change(pod.get());
  return pod;
}

PodRef OperationGenerator::ChangedPod(const Pod& before) {
  auto pod = std::make_shared<Pod>(before);
  for (uint64_t changes = random_.Below(4); changes > 0; --changes) Change(pod.get());
  return pod;
}

void OperationGenerator::Change(Pod* pod) {
  switch (random_.Below(8)) {
    case 0:
      pod->priority = static_cast<int32_t>(random_.Between(-1, 2));
      break;
    case 1:
      pod->labels = {{"zone", SomeZone()}};
      break;
    case 2:
      pod->scheduling_gates.clear();
      break;
    case 3:
      pod->scheduling_gates.emplace_back("gate");
      break;
    case 4:
      // The same tolerations as the reader of traces makes from a number.
      pod->tolerations.resize(random_.Below(3));
      break;
    case 5:
      pod->generated_claims.resize(random_.Below(3));
      for (size_t i = 0; i < pod->generated_claims.size(); ++i) {
        pod->generated_claims[i].pod_claim_name = "claim-" + std::to_string(i);
      }
      break;
    case 6:
      pod->nominated_node_name = SomeNode();
      break;
    case 7:
      pod->claims = {Pick({"c1", "c2", "c3"})};
      break;
  }
}

void OperationGenerator::DrawEvent(TraceOperation* operation) {
  if (!group_names_.empty() && random_.Chance(0.3)) return DrawEventOfGroups(operation);
  static constexpr std::array<std::pair<Resource, Action>, 15> kEvents = {{
      {Resource::kNode, Action::kAdd},
      {Resource::kNode, Action::kDelete},
      {Resource::kNode, Action::kUpdateNodeLabel},
      {Resource::kNode, Action::kUpdateNodeTaint},
      {Resource::kNode, Action::kUpdate},
      {Resource::kResourceClaim, Action::kAdd},
      {Resource::kResourceClaim, Action::kUpdate},
      {Resource::kResourceClaim, Action::kUpdate},
      {Resource::kResourceClaim, Action::kDelete},
      {Resource::kAssignedPod, Action::kAdd},
      {Resource::kAssignedPod, Action::kDelete},
      {Resource::kUnscheduledPod, Action::kUpdatePodLabel},
      {Resource::kPersistentVolumeClaim, Action::kAdd},
      {Resource::kStorageClass, Action::kAdd},
      {Resource::kWildcard, Action::kAll},
  }};
  const auto& [resource, action] = kEvents[random_.Below(kEvents.size())];
  operation->event = MakeEvent(resource, action);
  operation->object.namespace_name = Pick({"one", "two"});
  operation->object.name = Pick({"c1", "c2", "c3"});
  operation->object.labels = {{"zone", SomeZone()}};
  operation->object.was_allocated = random_.Chance(0.3);
  operation->object.is_allocated = random_.Chance(0.3);
}

// Draws answers of the plugins of kind `recorded`. A pod that this operation adds is named by its
// short name.
void OperationGenerator::DrawAnswers(TraceOperation* operation) {
  for (const TracePluginSpec& plugin : header_.plugins) {
    if (plugin.pre_enqueue != "recorded") continue;
    for (const Candidate& candidate : candidates_) {
      const bool known = candidate.live != nullptr || candidate.in_flight;
      if (known && random_.Chance(0.15)) {
        operation->rejected.push_back({candidate.name, plugin.name});
      }
      if (known && operation->op == TraceOp::kEvent && random_.Chance(0.3)) {
        operation->verdicts.push_back({candidate.name, plugin.name});
      }
    }
    if (operation->op == TraceOp::kAdd && random_.Chance(0.2)) {
      operation->rejected.push_back({operation->pod->name, plugin.name});
    }
  }
}

std::vector<std::string> OperationGenerator::SomePlugins(double chance) {
  std::vector<std::string> names;
  for (const TracePluginSpec& plugin : header_.plugins) {
    if (random_.Chance(chance)) names.push_back(plugin.name);
  }
  return names;
}

}  // namespace schedq
