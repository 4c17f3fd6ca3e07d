// Pods in the whole engine: their life, one thread that adds for each that pops, and failures that
// an event ends.
//
//   life      T1 .. Tn --add--> engine (1,000 wait) --pop--> bind
//   producer  T1 .. Tn/2 --add--> engine --pop, bind--> Tn/2+1 .. Tn
//   requeue   T1 .. Tn --pop--> fail --> event of the pod's claim --> active again
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/lab/scale/atom.h"
#include "bench/lab/scale/engine_scene.h"
#include "bench/lab/scale/renderings.h"
#include "bench/lab/scale/scale_path.h"
#include "engine/base/names/interner-inl.h"
#include "engine/base/random.h"
#include "engine/classic/classic_queue.h"
#include "engine/lockfree/active/active_entry.h"
#include "engine/lockfree/lockfree_queue.h"

namespace schedq {

// The library has it; here it is instantiated for virtual threads only.
extern template class BasicLockfreeQueue<std::atomic>;

}  // namespace schedq

namespace schedq::scale {
namespace {

constexpr uint64_t kStock = 1000;

// An engine behind one lock with the operations of a scene.
class LockedScene {
 public:
  struct Popped {
    ActiveEntry entry;
  };

  LockedScene(uint64_t pods, uint64_t seed) : engine_(pods), random_(seed) {}

  void Add(uint64_t pod) { engine_.Add(EntryOf(pod)); }
  void WatchClaim(uint64_t) {}
  Popped Pop() {
    for (;;) {
      if (const auto entry = engine_.TryPop()) return {*entry};
      Seam<Atomic>::Pause();
    }
  }
  void Bind(const Popped& popped) { engine_.End(popped.entry.ticket); }
  void FailAndWake(const Popped& popped) {
    engine_.End(popped.entry.ticket);
    engine_.Return(EntryOf(popped.entry.ticket));
  }

 private:
  ActiveEntry EntryOf(uint64_t pod) {
    return {DrawPriority(random_), static_cast<int64_t>(++looks_), pod};
  }

  LockedEngine<Atomic> engine_;
  Random random_;
  uint64_t looks_ = 0;
};

template <typename Scene>
class PodPath : public EvenPath {
 public:
  PodPath(const PathSize& size, uint64_t further_pods)
      : EvenPath(size), scene_(kStock + further_pods, size.seed), calls_(size.threads) {
    for (uint64_t pod = 0; pod < kStock; ++pod) scene_.Add(pod);
  }

 protected:
  struct alignas(2 * CacheLines::kLineBytes) Calls {
    uint64_t count = 0;
  };

  Scene scene_;
  std::vector<Calls> calls_;
};

template <typename Scene>
class LifePath : public PodPath<Scene> {
 public:
  explicit LifePath(const PathSize& size)
      : PodPath<Scene>(size, EvenPath(size).NumbersEndOf(size.threads)) {}

  void Operate(uint32_t thread) {
    this->scene_.Add(this->NumberFor(thread, &this->calls_[thread].count, kStock));
    this->scene_.Bind(this->scene_.Pop());
  }
};

// The first half of the threads adds; the others pop. One thread does both.
template <typename Scene>
class ProducerPath : public PodPath<Scene> {
 public:
  explicit ProducerPath(const PathSize& size)
      : PodPath<Scene>(size, EvenPath(size).NumbersEndOf(size.threads)) {}

  uint64_t Share(uint32_t) const { return this->size_.ShareOf(Pairs()); }
  bool IsOperation(uint32_t thread) const { return thread < Pairs(); }

  void Operate(uint32_t thread) {
    if (thread < Pairs()) {
      uint64_t& calls = this->calls_[thread].count;
      this->scene_.Add(kStock + calls++ * Pairs() + thread);
    }
    if (thread >= Pairs() || this->size_.threads == 1) this->scene_.Bind(this->scene_.Pop());
  }

 private:
  uint32_t Pairs() const { return std::max<uint32_t>(this->size_.threads / 2, 1); }
};

template <typename Scene>
class RequeuePath : public PodPath<Scene> {
 public:
  explicit RequeuePath(const PathSize& size) : PodPath<Scene>(size, 0) {
    for (uint64_t pod = 0; pod < kStock; ++pod) this->scene_.WatchClaim(pod);
  }

  void Operate(uint32_t) { this->scene_.FailAndWake(this->scene_.Pop()); }
};

using CountedScene = EngineScene<BasicLockfreeQueue<Atomic>, Atomic>;
using MeasuredScene = EngineScene<LockfreeQueue, std::atomic>;
using ClassicScene = EngineScene<ClassicQueue, std::atomic>;

template <template <typename> class Path>
void AddPath(const char* path, const char* operation, std::vector<ScaleContestant>* contestants) {
  contestants->push_back({.path = path,
                          .name = "schedq",
                          .role = ContenderRole::kProduct,
                          .operation = operation,
                          .count = CountPath<Path<CountedScene>>,
                          .measure = MeasurePath<Path<MeasuredScene>>});
  contestants->push_back({.path = path,
                          .name = "classic, rendered",
                          .role = ContenderRole::kClassic,
                          .operation = operation,
                          .is_serial = true,
                          .count = CountPath<Path<LockedScene>>,
                          .measure = MeasurePath<Path<ClassicScene>>});
}

}  // namespace

void AddPodPaths(std::vector<ScaleContestant>* contestants) {
  AddPath<LifePath>("life", "add, pop and bind of a pod, 1,000 wait", contestants);
  AddPath<ProducerPath>("producer", "a pod that one thread adds and another pops and binds",
                        contestants);
  AddPath<RequeuePath>("requeue", "pop, fail and the narrowed event of a pod's claim, 1,000 pods",
                       contestants);
}

}  // namespace schedq::scale
