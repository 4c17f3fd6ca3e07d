// A queue that passes everything on to another one: the base of engines with one planted fault.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time/time.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/place.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "engine/queue_metrics.h"

namespace schedq {

class ForwardingQueue : public SchedulingQueue {
 public:
  Status Add(PodRef pod) override { return inner_->Add(std::move(pod)); }
  Status Update(PodRef before, PodRef after) override {
    return inner_->Update(std::move(before), std::move(after));
  }
  std::optional<Status> UpdateUnlessAway(PodRef before, PodRef after) override {
    return inner_->UpdateUnlessAway(std::move(before), std::move(after));
  }
  void Delete(const Pod& pod) override { inner_->Delete(pod); }
  void Bind(const PodKey& pod) override { inner_->Bind(pod); }
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override {
    inner_->Event(event, change, pre_check);
  }
  void Activate(std::span<const PodRef> pods) override { inner_->Activate(pods); }
  void GroupAdd(PodGroupRef group) override { inner_->GroupAdd(std::move(group)); }
  void GroupUpdate(PodGroupRef group) override { inner_->GroupUpdate(std::move(group)); }
  void GroupDelete(const GroupKey& group) override { inner_->GroupDelete(group); }
  void GroupDone(const GroupKey& root, GroupStatus status) override {
    inner_->GroupDone(root, status);
  }
  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override {
    return inner_->Pop(timeout);
  }
  std::optional<PoppedPod> TryPop() override { return inner_->TryPop(); }
  void Done(const PodKey& pod) override { inner_->Done(pod); }
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override {
    return inner_->Fail(pod, unschedulable, pending);
  }
  void FlushBackoff() override { inner_->FlushBackoff(); }
  void FlushUnschedulable() override { inner_->FlushUnschedulable(); }
  void Run() override { inner_->Run(); }
  void Close() override { inner_->Close(); }
  Status Nominate(const PodRef& pod, std::string_view node) override {
    return inner_->Nominate(pod, node);
  }
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

 protected:
  explicit ForwardingQueue(std::unique_ptr<SchedulingQueue> inner) : inner_(std::move(inner)) {}

  SchedulingQueue& inner() { return *inner_; }

 private:
  const std::unique_ptr<SchedulingQueue> inner_;
};

}  // namespace schedq
