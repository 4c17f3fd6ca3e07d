// An engine with pods, a judge that narrows each event to one pod, and names that are counted.
//
// Purpose: the same operations on the lock-free engine with any Atom and on the classic one. The
// engine's names are not under its Atom. Where Atom is scale::Atomic the scene therefore uses an
// interner of its own beside the engine: it acquires and releases there what the engine acquires
// and releases, by the same code.
// Threads: each operation from any thread; what belongs to a pod is of the thread that has it.
// Memory: the pods, made beforehand.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/atom.h"
#include "engine/base/metrics/metrics.h"
#include "engine/base/names/interner.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/time/clock.h"
#include "engine/base/time/real_clock.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_key.h"
#include "engine/ports.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"

namespace schedq::scale {

// Eight priorities, drawn evenly, as those of the queue's pairs.
inline int32_t DrawPriority(Random& random) { return static_cast<int32_t>(random.Below(8)) * 1000; }

// A clock whose look moves it on: virtual threads have no time of their own. One OS thread.
class LookingClock final : public Clock {
 public:
  Instant Now() const override { return Instant(std::chrono::seconds(1000) + Duration(++looks_)); }
  TimerId At(Instant, std::function<void()>) override { return 1; }
  TimerId Every(Instant, Duration, std::function<void()>) override { return 1; }
  bool Cancel(TimerId) override { return false; }

 private:
  mutable int64_t looks_ = 0;
};

// The claim that one pod of the scene waits for.
struct WatchedClaim : ObjectView {
  PodId waiting = kNoPod;
};

// One plugin, which rejects and is asked; each event concerns the one pod that its claim names.
class ScenePorts final : public PreEnqueueCheck, public RequeueJudge {
 public:
  static constexpr PluginId kPlugin = 0;

  PluginId Check(const Pod&, PluginId) const override { return kNoPlugin; }
  std::string Explain(const Pod&, PluginId) const override { return {}; }

  PluginSet RegisteredFor(const ClusterEvent&) const override { return PluginSet::Of(kPlugin); }
  void Narrow(const ClusterEvent&, const ObjectChange& change,
              Narrowing* narrowing) const override {
    const auto& claim = static_cast<const WatchedClaim&>(*change.after);
    narrowing->pods.push_back({claim.waiting, 1});
  }
  void Judge(std::span<const JudgedPod> pods, const ClusterEvent&, const ObjectChange& change,
             std::span<Verdict> verdicts) const override {
    const auto& claim = static_cast<const WatchedClaim&>(*change.after);
    for (size_t i = 0; i < pods.size(); ++i) {
      verdicts[i] = pods[i].id == claim.waiting ? Verdict::kAfterBackoff : Verdict::kSkip;
    }
  }
};

// Pods and claims are the scene's, so that references to them count nothing.
template <typename Queue, template <typename> class Atom>
class EngineScene {
 public:
  // `pods` is how many there will ever be at all.
  EngineScene(uint64_t pods, uint64_t seed)
      : pods_(pods), claims_(pods), counted_ids_(pods, kNoPod) {
    Random random(seed);
    for (uint64_t i = 0; i < pods; ++i) {
      Pod& pod = pods_[i];
      pod.namespace_name = "scale";
      pod.name = "pod-" + std::to_string(i);
      pod.uid = "5c1d34a0-0000-4000-8000-" + pod.name;
      pod.priority = DrawPriority(random);
      claims_[i].resource = Resource::kResourceClaim;
    }
    if constexpr (kIsCounted) {
      clock_ = std::make_unique<LookingClock>();
      counted_names_.emplace();
    } else {
      clock_ = std::make_unique<RealClock>();
    }
    QueueOptions options;
    options.clock = clock_.get();
    options.pod_names = &names_;
    options.pre_enqueue = &ports_;
    options.judge = &ports_;
    options.metrics = &metrics_;
    options.plugin_names = {"Scale"};
    options.backoff = {.initial = Duration(0), .maximum = Duration(0)};
    queue_ = std::make_unique<Queue>(std::move(options));
  }

  void Add(uint64_t pod) {
    if constexpr (kIsCounted) {
      typename CountedNames::Newcomer name(&*counted_names_, pods_[pod].namespace_name,
                                           pods_[pod].name);
      name.Prepare();
      counted_ids_[pod] = name.Acquire();
    }
    MustSucceed(queue_->Add(RefTo(pods_[pod])));
  }
  // Of a pod that was added, before other threads begin: its claim names it.
  void WatchClaim(uint64_t pod) { claims_[pod].waiting = queue_->KeyOf(pods_[pod]).id; }
  PoppedPod Pop() {
    for (;;) {
      if (std::optional<PoppedPod> popped = queue_->TryPop()) return std::move(*popped);
      Seam<Atom>::Pause();
    }
  }
  void Bind(const PoppedPod& popped) {
    queue_->Bind(popped.key);
    if constexpr (kIsCounted) counted_names_->Release(counted_ids_[NumberOf(popped)]);
  }
  // The pod is rejected, and then the event comes that it waited for.
  void FailAndWake(const PoppedPod& popped) {
    const ObjectView& claim = claims_[NumberOf(popped)];
    MustSucceed(queue_->Fail(popped.key, PluginSet::Of(ScenePorts::kPlugin), PluginSet()));
    queue_->Event(event_, {RefTo(claim), RefTo(claim)});
  }

 private:
  static constexpr bool kIsCounted = !std::is_same_v<Atom<uint64_t>, std::atomic<uint64_t>>;
  using CountedNames = BasicInterner<Atom>;

  template <typename T>
  static std::shared_ptr<const T> RefTo(const T& object) {
    return {std::shared_ptr<const T>(), &object};
  }
  uint64_t NumberOf(const PoppedPod& popped) const {
    return static_cast<uint64_t>(popped.pod.get() - pods_.data());
  }

  std::vector<Pod> pods_;
  std::vector<WatchedClaim> claims_;
  std::vector<uint32_t> counted_ids_;
  const ClusterEvent event_ = MakeEvent(Resource::kResourceClaim, Action::kUpdate);
  ScenePorts ports_;
  MetricsRegistry metrics_;
  Interner names_;
  std::optional<CountedNames> counted_names_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Queue> queue_;
};

}  // namespace schedq::scale
