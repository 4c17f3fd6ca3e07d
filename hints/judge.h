// Narrows events to pods, and judges pods for events, by asking the plugins' hints.
//
// Purpose: the engine's port RequeueJudge over a PluginRegistry. docs/semantics.md says what is
// asked and what the answers mean ("Is a pod worth requeueing", "PreQueueingHint").
// Threads: any, concurrently; only metrics change. A batch of `parallel_from` pods or more is
// judged in parallel on oneTBB, and the caller waits for the workers that help it. A smaller batch
// takes no lock and waits for no other thread, unless a plugin does.
// Log: at debug level, each PreQueueingHint that narrowed an event.
// Invariants:
//  1. One plugin's PreQueueingHint never changes what another plugin is asked.
//  2. With honest plugins, the narrowed pods get the same verdicts as all pods would get.
//  3. A pod's verdict does not depend on the batch in which it is judged.
#pragma once

#include <cstddef>
#include <span>

#include "engine/base/metrics/metrics.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/ports.h"
#include "hints/hint_metrics.h"
#include "hints/registry.h"

namespace schedq {

struct JudgeOptions {
  static constexpr size_t kNeverParallel = ~size_t{0};

  MetricsRegistry* metrics = nullptr;  // Null: nothing is counted.
  // For the durations in metrics. A run on the virtual clock gives a function that does not depend
  // on the machine. Null: the machine's steady clock.
  MonotonicTime (*now)() = nullptr;
  // Below about this many pods it costs more to wake workers than they save; see hints/README.md.
  size_t parallel_from = 4096;
};

class PluginJudge : public RequeueJudge {
 public:
  // `plugins` and the options' metrics must outlive this.
  explicit PluginJudge(const PluginRegistry& plugins, const JudgeOptions& options = {});

  PluginSet RegisteredFor(const ClusterEvent& event) const override;
  void Narrow(const ClusterEvent& event, const ObjectChange& change,
              Narrowing* narrowing) const override;
  void Judge(std::span<const JudgedPod> pods, const ClusterEvent& event, const ObjectChange& change,
             std::span<Verdict> verdicts) const override;

 private:
  // Judges one batch on this thread, and counts it.
  void JudgeBatch(std::span<const JudgedPod> pods, const ClusterEvent& event,
                  const ObjectChange& change, std::span<Verdict> verdicts) const;

  const PluginRegistry& plugins_;
  const HintMetrics metrics_;
  MonotonicTime (*const now_)();
  const size_t parallel_from_;
};

}  // namespace schedq
