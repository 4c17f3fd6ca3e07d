// From a claim's name to the pods that use it, while pods change their claims.
//
//   T1 --- 9 of 10: find the pods of a random claim ---> +-------------+
//   T2 --- 1 of 10: an own pod takes its other claim --> | N claims,   |
//                                                        | a pod each  |
//                                                        +-------------+
//
// Pod p uses claim p or claim p + 1, and each thread moves only its own pods. Each contestant makes
// the claim's name from its number, and finds and moves by name. Time: wall time / operations of
// all threads. Filling is not timed.
// Answer: a search finds only pods that can use the claim. At the end each pod is found once under
// the claim that it took last, and under no other.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/interrupt.h"
#include "bench/lab/micro/benchmark_list.h"
#include "bench/lab/micro/counted_lines.h"
#include "bench/lab/micro/path_case.h"
#include "bench/lab/micro/rivals/claim_maps.h"
#include "bench/lab/micro/suites.h"
#include "bench/lab/paths/thread_team.h"
#include "engine/base/random.h"
#include "perf/documents/bench_document.h"

namespace schedq {
namespace {

struct ClaimWorkload {
  uint32_t claims = 0;
  int threads = 1;
  int64_t operations = 0;  // The operations of all threads together.
};

// The claim that each pod uses, of its two.
class Choices {
 public:
  explicit Choices(uint32_t pods) : is_second_(pods, 0) {}

  uint32_t ClaimOf(uint32_t pod) const { return (pod + is_second_[pod]) % Count(); }
  uint32_t OtherClaimOf(uint32_t pod) const { return (pod + 1 - is_second_[pod]) % Count(); }
  void Change(uint32_t pod) { is_second_[pod] ^= 1; }
  bool MayUse(uint32_t pod, uint32_t claim) const {
    return claim == pod || claim == (pod + 1) % Count();
  }
  uint32_t Count() const { return static_cast<uint32_t>(is_second_.size()); }

 private:
  std::vector<uint8_t> is_second_;  // Only the pod's thread writes a pod's element.
};

// The work of one thread. Returns how often it found a pod that cannot use the claim.
template <typename Contestant>
int64_t Operate(const ClaimWorkload& workload, int thread, Contestant& contestant,
                Choices& choices) {
  Random random = Random(1).Fork(static_cast<uint64_t>(thread));
  const auto threads = static_cast<uint32_t>(workload.threads);
  PodNumbers found;
  int64_t strangers = 0;
  for (int64_t i = 0; i < workload.operations / workload.threads; ++i) {
    const auto number = static_cast<uint32_t>(random.Below(workload.claims));
    if (i % 10 == 0) {
      const uint32_t pod = number - number % threads + static_cast<uint32_t>(thread);
      if (pod >= workload.claims) continue;
      contestant.Move(pod, choices.ClaimOf(pod), choices.OtherClaimOf(pod));
      choices.Change(pod);
    } else {
      contestant.Find(number, &found);
      for (const uint32_t pod : found) strangers += choices.MayUse(pod, number) ? 0 : 1;
    }
  }
  return strangers;
}

template <typename Contestant>
bool EachPodIsUnderItsClaim(Contestant& contestant, const Choices& choices) {
  PodNumbers found;
  uint32_t pods = 0;
  for (uint32_t claim = 0; claim < choices.Count(); ++claim) {
    contestant.Find(claim, &found);
    for (const uint32_t pod : found) {
      if (choices.ClaimOf(pod) != claim) return false;
    }
    pods += static_cast<uint32_t>(found.size());
    if (found.size() == 2 && found[0] == found[1]) return false;
  }
  return pods == choices.Count();
}

template <typename Contestant>
void Measure(benchmark::State& state, const ClaimWorkload& workload) {
  if (Interrupted()) return state.SkipWithError("interrupted");
  const auto contestant = std::make_unique<Contestant>(workload.claims);
  for (uint32_t pod = 0; pod < workload.claims; ++pod) contestant->Add(pod, pod);
  Choices choices(workload.claims);
  std::vector<int64_t> strangers(static_cast<size_t>(workload.threads));
  const double seconds = RunTeam(workload.threads, [&](int thread) {
    strangers[static_cast<size_t>(thread)] = Operate(workload, thread, *contestant, choices);
  });
  for (const int64_t count : strangers) {
    if (count != 0) return state.SkipWithError("wrong answer: a pod that never used the claim");
  }
  if (!EachPodIsUnderItsClaim(*contestant, choices)) {
    return state.SkipWithError("wrong answer: a pod is not under the claim that it took last");
  }
  ReportValue(state, seconds * 1e9 / static_cast<double>(workload.operations));
}

template <typename Contestant>
void AddContestant(BenchmarkList& list, const ClaimWorkload& workload, ContenderRole role,
                   bool is_tiny) {
  BenchmarkCase one;
  one.group = "hints/claim_index/" + std::to_string(workload.claims) + "_claims/" +
              std::to_string(workload.threads) + "_threads";
  one.topology = "9 finds by name and 1 move, each thread its own pods -> checked";
  one.contestant = Contestant::kName;
  one.role = role;
  one.parameters = {{"claims", workload.claims},
                    {"threads", static_cast<uint64_t>(workload.threads)}};
  one.operations = workload.operations;
  if (role == ContenderRole::kProduct) one.counters = CountedOn("claims", is_tiny);
  one.body = [=](benchmark::State& state) { Measure<Contestant>(state, workload); };
  list.Add(std::move(one));
}

}  // namespace

void AddClaimIndexBenchmarks(BenchmarkList& list, BenchmarkSize size) {
  const bool is_tiny = size == BenchmarkSize::kTiny;
  const ClaimWorkload workload{.claims = is_tiny ? 1000U : 1'000'000U,
                               .threads = 2,
                               .operations = is_tiny ? 10'000 : 2'000'000};
  AddContestant<ClaimIndexContestant>(list, workload, ContenderRole::kProduct, is_tiny);
  AddContestant<FollyClaimMap>(list, workload, ContenderRole::kRival, is_tiny);
  AddContestant<TbbClaimMap>(list, workload, ContenderRole::kRival, is_tiny);
}

}  // namespace schedq
