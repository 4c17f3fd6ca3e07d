#include "bench/lab/micro/priority_queue_workload.h"

#include <fmt/format.h>

#include <map>
#include <queue>
#include <tuple>

#include "bench/anchors.h"

namespace schedq {
namespace {

struct ExpectedSequence {
  uint64_t popped = 0;
  uint64_t left = 0;
};

ExpectedSequence RunModel(const PairsWorkload& workload) {
  std::priority_queue<QueueKey> model;
  KeySource fill = FillSource(workload);
  for (int64_t entry = 0; entry < workload.entries; ++entry) {
    model.push(fill.Next(static_cast<uint64_t>(entry)));
  }
  KeyDigest popped;
  KeySource source = ThreadSource(workload, 0);
  for (int64_t pair = 0; pair < workload.pairs; ++pair) {
    model.push(source.Next(PairTimestamp(workload, 0, pair)));
    popped.Add(model.top());
    model.pop();
  }
  KeyDigest left;
  for (; !model.empty(); model.pop()) left.Add(model.top());
  return {popped.sequence, left.sequence};
}

// All repetitions of all contestants have the same answer, so it is computed once.
const ExpectedSequence& Expected(const PairsWorkload& workload) {
  static std::map<std::tuple<Priorities, int64_t, int64_t>, ExpectedSequence> known;
  const auto key = std::make_tuple(workload.priorities, workload.entries, workload.pairs);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, RunModel(workload)).first->second;
}

}  // namespace

std::string PairsGroup(const PairsWorkload& workload) {
  return fmt::format(
      "engine/active_queue/{}/{}_entries/{}_thread{}",
      workload.priorities == Priorities::kEight ? "8_priorities" : "random_priorities",
      workload.entries, workload.threads, workload.threads == 1 ? "" : "s");
}

std::optional<double> PairsAnchor(const PairsWorkload& workload, const std::string& queue) {
  if (workload.priorities != Priorities::kEight) return std::nullopt;
  return PriorityQueueAnchor(workload.entries, workload.threads, queue);
}

const char* FaultOf(const PairsWorkload& workload, const PairsOutcome& outcome) {
  if (outcome.pops_without_key != 0) return "wrong answer: a pop found nothing in a filled queue";
  if (outcome.popped.count + outcome.left.count != outcome.pushed.count) {
    return "wrong answer: keys were lost or doubled";
  }
  if (outcome.popped.sum + outcome.left.sum != outcome.pushed.sum) {
    return "wrong answer: the keys that came out are not those that went in";
  }
  if (!outcome.left_in_order) return "wrong answer: the remaining keys came out of order";
  if (workload.threads != 1) return nullptr;
  const ExpectedSequence& expected = Expected(workload);
  if (outcome.popped.sequence != expected.popped || outcome.left.sequence != expected.left) {
    return "wrong answer: keys were popped in another order than by the sequential model";
  }
  return nullptr;
}

}  // namespace schedq
