// An engine with one fault planted around it: what a gate must catch.
//
// Purpose: canaries. Everything goes to the engine inside but for the fault.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/classic/classic_queue.h"
#include "engine/queue.h"

namespace schedq {

enum class QueueFault : uint8_t {
  kNone,
  kNoNarrowing,            // Every event concerns all pods.
  kDoubledRequeue,         // What an event sends to backoff is put in line once more.
  kLostBackoffFlush,       // Every second flush of backoff does nothing.
  kLostUnschedulableFlush  // The flush of the pool does nothing.
};

class FaultyQueue final : public SchedulingQueue {
 public:
  FaultyQueue(QueueOptions options, QueueFault fault)
      : fault_(fault),
        inner_(std::make_unique<ClassicQueue>(Prepared(std::move(options), fault))) {}

  void Add(PodRef pod) override { inner_->Add(std::move(pod)); }
  void Update(PodRef before, PodRef after) override {
    inner_->Update(std::move(before), std::move(after));
  }
  void Delete(const Pod& pod) override { inner_->Delete(pod); }
  void Bind(const PodKey& pod) override { inner_->Bind(pod); }
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override {
    inner_->Event(event, change, pre_check);
    if (fault_ == QueueFault::kDoubledRequeue) inner_->Activate(inner_->List(Place::kBackoff));
  }
  void Activate(std::span<const PodRef> pods) override { inner_->Activate(pods); }
  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override {
    return inner_->Pop(timeout);
  }
  std::optional<PoppedPod> TryPop() override { return inner_->TryPop(); }
  void Done(const PodKey& pod) override { inner_->Done(pod); }
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override {
    return inner_->Fail(pod, unschedulable, pending);
  }
  void FlushBackoff() override {
    if (fault_ == QueueFault::kLostBackoffFlush && ++flushes_ % 2 == 0) return;
    inner_->FlushBackoff();
  }
  void FlushUnschedulable() override {
    if (fault_ != QueueFault::kLostUnschedulableFlush) inner_->FlushUnschedulable();
  }
  void Run() override { inner_->Run(); }
  void Close() override { inner_->Close(); }
  void Nominate(const PodRef& pod, std::string_view node) override { inner_->Nominate(pod, node); }
  std::vector<PodRef> NominatedPods(std::string_view node) const override {
    return inner_->NominatedPods(node);
  }
  std::string NominatedNode(const PodKey& pod) const override { return inner_->NominatedNode(pod); }
  PodKey KeyOf(const Pod& pod) const override { return inner_->KeyOf(pod); }
  QueueCounts Counts() const override { return inner_->Counts(); }
  std::vector<PodRef> List(Place place) const override { return inner_->List(place); }
  PodWhereabouts Where(std::string_view pod_name) const override { return inner_->Where(pod_name); }
  uint64_t SchedulingCycle() const override { return inner_->SchedulingCycle(); }
  uint64_t LoggedEvents() const override { return inner_->LoggedEvents(); }
  const QueueMetrics& Metrics() const override { return inner_->Metrics(); }

 private:
  static QueueOptions Prepared(QueueOptions options, QueueFault fault) {
    if (fault != QueueFault::kNoNarrowing) return options;
    GateRequest request;
    for (int i = 0; i < kGateCount; ++i) {
      const auto gate = static_cast<Gate>(i);
      request.Set(gate, options.gates.On(gate));
    }
    request.Set(Gate::kSchedulerPreQueueingHints, false);
    options.gates = *Gates::Resolve(request);
    return options;
  }

  const QueueFault fault_;
  uint64_t flushes_ = 0;
  const std::unique_ptr<SchedulingQueue> inner_;
};

}  // namespace schedq
