#include "tests/support/driver/faulty_queues.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/event.h"
#include "engine/object.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/queue.h"
#include "engine/queue_answers.h"
#include "schedq/engine_kind.h"
#include "tests/support/queue/forwarding_queue.h"

namespace schedq {
namespace {

// The first engine of the product, behind a queue that plants the fault.
class FaultyQueue final : public ForwardingQueue {
 public:
  FaultyQueue(Fault fault, QueueOptions options)
      : ForwardingQueue(MakeQueue(AllEngines().front(), std::move(options))), fault_(fault) {}

  void GroupDelete(const GroupKey& group) override {
    if (fault_ != Fault::kMissesGroupDelete) inner().GroupDelete(group);
  }
  std::optional<PoppedPod> TryPop() override {
    if (fault_ == Fault::kLosesMemberOfPop) return WithoutThirdMember(inner().TryPop());
    if (fault_ != Fault::kPopsSecondBest || inner().Counts().active < 3) {
      return inner().TryPop();
    }
    std::optional<PoppedPod> best = inner().TryPop();
    std::optional<PoppedPod> second = inner().TryPop();
    if (!second) return best;
    inner().Delete(*best->pod);
    inner().Done(best->key);
    MustSucceed(inner().Add(best->pod));
    return second;
  }
  Status Fail(const PodKey& pod, PluginSet unschedulable, PluginSet pending) override {
    for (const PodRef& in_flight : inner().List(Place::kInFlight)) {
      if (fault_ != Fault::kLosesThirdFailure || inner().KeyOf(*in_flight) != pod) continue;
      if (inner().Where(in_flight->namespace_name + "/" + in_flight->name).fields.attempts != 3)
        continue;
      inner().Done(pod);
      return Status::Ok();
    }
    return inner().Fail(pod, unschedulable, pending);
  }
  void Event(const ClusterEvent& event, const ObjectChange& change,
             const PreCheck& pre_check) override {
    const bool misses = inner().Counts().in_flight == 2;
    if (fault_ == Fault::kMissesEventsWithTwoInFlight && misses) return;
    inner().Event(event, change, pre_check);
  }
  uint64_t LoggedEvents() const override {
    const uint64_t logged = ForwardingQueue::LoggedEvents();
    if (fault_ != Fault::kKeepsEvents) return logged;
    most_logged_ = std::max(most_logged_, logged);
    return most_logged_;
  }

 private:
  static std::optional<PoppedPod> WithoutThirdMember(std::optional<PoppedPod> popped) {
    if (!popped || popped->group == nullptr || popped->group->members.size() < 3) return popped;
    auto group = std::make_shared<PoppedGroup>(*popped->group);
    group->members.resize(2);
    popped->group = std::move(group);
    return popped;
  }

  const Fault fault_;
  mutable uint64_t most_logged_ = 0;
};

}  // namespace

DrivenEngine FaultyEngine(Fault fault) {
  return {.name = "faulty", .make = [fault](QueueOptions options) {
            return std::make_unique<FaultyQueue>(fault, std::move(options));
          }};
}

}  // namespace schedq
