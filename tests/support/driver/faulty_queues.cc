#include "tests/support/driver/faulty_queues.h"

#include "engine/queue.h"

namespace schedq {
namespace {

// The first engine of the product with a fault in front of it.
class FaultyQueue final : public SchedulingQueue {
 public:
  FaultyQueue(Fault fault, QueueOptions options)
      : fault_(fault), inner_(MakeQueue(AllEngines().front(), std::move(options))) {}

  std::optional<PoppedPod> TryPop() override {
    if (fault_ != Fault::kPopsTheSecondBest || inner_->Counts().active < 3) {
      return inner_->TryPop();
    }
    const std::optional<PoppedPod> best = inner_->TryPop();
    std::optional<PoppedPod> second = inner_->TryPop();
    if (!second) return best;
    inner_->Delete(*best->pod);
    inner_->Done(best->key);
    inner_->Add(best->pod);
    return second;
  }
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override {
    for (const PodRef& flying : inner_->List(Place::kInFlight)) {
      if (fault_ != Fault::kLosesAThirdFailure || inner_->KeyOf(*flying) != pod) continue;
      if (inner_->Where(flying->namespace_name + "/" + flying->name).fields.attempts != 3) continue;
      inner_->Done(pod);
      return Status::Ok();
    }
    return inner_->Fail(pod, unschedulable, pending);
  }
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override {
    const bool misses = inner_->Counts().in_flight == 2;
    if (fault_ == Fault::kMissesEventsWhileTwoFly && misses) return;
    inner_->Event(event, change, pre_check);
  }

  void Add(PodRef pod) override { inner_->Add(std::move(pod)); }
  void Update(PodRef before, PodRef after) override { inner_->Update(before, after); }
  void Delete(const Pod& pod) override { inner_->Delete(pod); }
  void Bind(const PodKey& pod) override { inner_->Bind(pod); }
  void Activate(std::span<const PodRef> pods) override { inner_->Activate(pods); }
  std::optional<PoppedPod> Pop(std::optional<Duration> timeout) override {
    return inner_->Pop(timeout);
  }
  void Done(const PodKey& pod) override { inner_->Done(pod); }
  void FlushBackoff() override { inner_->FlushBackoff(); }
  void FlushUnschedulable() override { inner_->FlushUnschedulable(); }
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
  const Fault fault_;
  const std::unique_ptr<SchedulingQueue> inner_;
};

}  // namespace

DrivenEngine FaultyEngine(Fault fault) {
  return {"faulty", [fault](QueueOptions options) {
            return std::make_unique<FaultyQueue>(fault, std::move(options));
          }};
}

}  // namespace schedq
