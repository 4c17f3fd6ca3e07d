// Look-ups in the claim index, from the claim's name: nine in ten; the tenth call changes a pod.
//
//   T1 .. Tn --look up by name--> [ 4,096 claims, a pod each ] <--update of a pod-- T1 .. Tn
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/lab/scale/atom.h"
#include "bench/lab/scale/scale_path.h"
#include "engine/base/names/interner-inl.h"
#include "engine/base/names/interner.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/pod.h"
#include "hints/claims/claim_index-inl.h"
#include "hints/claims/claim_index.h"
#include "hints/plugin.h"

namespace schedq::scale {
namespace {

constexpr uint64_t kClaims = 4096;
constexpr uint64_t kCallsPerUpdate = 10;

template <template <typename> class Atom>
class ClaimsPath : public EvenPath {
 public:
  explicit ClaimsPath(const PathSize& size) : EvenPath(size), pods_(kClaims) {
    const Random random(size.seed);
    for (uint32_t thread = 0; thread < size.threads; ++thread) {
      threads_.push_back({random.Fork(thread), {}});
    }
    for (uint64_t i = 0; i < kClaims; ++i) {
      pods_[i].namespace_name = "scale";
      pods_[i].name = "pod-" + std::to_string(i);
      pods_[i].claims = {"claim-" + std::to_string(i)};
      index_.Insert("scale", pods_[i].claims[0]);
      SCHEDQ_CHECK(index_.Update(nullptr, &pods_[i]), "there is room for its names");
    }
  }

  // A thread changes only pods of its own: calls of one pod must come in their order.
  void Operate(uint32_t thread) {
    Thread& own = threads_[thread];
    const uint64_t drawn = own.random.Below(kClaims);
    if (own.random.Below(kCallsPerUpdate) == 0) {
      const uint64_t row = drawn / size_.threads * size_.threads + thread;
      const Pod& pod = pods_[row < kClaims ? row : thread];
      index_.Update(&pod, nullptr);
      index_.Update(nullptr, &pod);
      return;
    }
    own.found.clear();
    index_.Lookup("scale", pods_[drawn].claims[0], &own.found);
    SCHEDQ_CHECK(own.found.size() <= 1, "one pod uses the claim");
  }

 private:
  struct alignas(2 * CacheLines::kLineBytes) Thread {
    Random random;
    PodList found;
  };

  BasicInterner<Atom> names_;
  BasicClaimIndex<Atom> index_{&names_};
  std::vector<Pod> pods_;
  std::vector<Thread> threads_;
};

}  // namespace

void AddClaimsPath(std::vector<ScaleContestant>* contestants) {
  contestants->push_back({.path = "claims",
                          .name = "schedq",
                          .role = ContenderRole::kProduct,
                          .operation = "look-up of a claim by name; one in ten an update of a pod",
                          .count = CountPath<ClaimsPath<Atomic>>,
                          .measure = MeasurePath<ClaimsPath<std::atomic>>});
}

}  // namespace schedq::scale
