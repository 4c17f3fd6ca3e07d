// One scheduling attempt of one pod, or of one group: what a Pop of the assembled queue gives.
//
// Purpose: an attempt ends once, by Fail or Bind, and says so when it is asked to end again. The
// world of the plugins, the queue and the dispatcher are told together.
// States: open; done (its pod is not in flight any more, because its binding has begun); ended.
//   Done takes it from open to done. Fail, Bind and SendBinding end it from either, Abandon from
//   open. An attempt that is dropped while it is open fails without plugins, as an error, so that
//   no pod is lost. One that is dropped while it is done leaves the rest to the cluster, which will
//   tell of the binding. Updates of a pod whose attempt is done are kept for the end of its
//   binding: they do not bring it back into the queue.
// Groups: an attempt of a group is the cycle of its root. It has no pod; TakeMembers gives an
//   attempt for each member, which ends by itself as a pod's does, and EndGroup ends the cycle. The
//   members that failed the cycle fail before EndGroup; those that go to a node may end later.
//   Members that were not taken fail with the cycle. One that is dropped ends its cycle as an
//   error, so that no member is lost.
// Threads: one at a time; attempts of different pods are independent of each other, those of a
//   group and its members too.
// Lifetime: the queue that gave it outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatcher/api_call.h"
#include "dispatcher/report/pre_flight.h"
#include "engine/base/result.h"
#include "engine/plugin.h"
#include "engine/pod.h"
#include "engine/pod_group.h"
#include "engine/pod_key.h"
#include "engine/queue_answers.h"

namespace schedq {

class AssembledQueue;

// Where a pod is going, and what PreBind plugins said before the binding begins.
struct BindingPlan {
  std::string node;
  bool permit_waits = false;            // A Permit plugin said Wait.
  std::vector<PreFlight> pre_flights;   // One answer a PreBind plugin.
  std::vector<ClaimAllocation> claims;  // To be stored with the nomination.
  // Told how the call that nominates ended, if one is made. May be null; outlives the call.
  CallListener* listener = nullptr;
  uint64_t tag = 0;
};

// What PostFilter said of a pod that no node takes (KEP-5278).
struct FailedNomination {
  std::string node;                // The pod is nominated to it; empty: to none.
  bool victims_are_going = false;  // It was nominated before, and that is to stay.
};

class Attempt {
 public:
  // Only the assembled queue makes attempts; it makes them where they are returned.
  class MakerKey {
    friend class AssembledQueue;
    friend class Attempt;
    MakerKey() = default;
  };
  // pop() gives a pod, a group or nothing; without one the attempt counts as ended. A pod is not
  // copied on its way, because nothing stands between what pop() returns and where it stays.
  template <typename Pop>
  Attempt(MakerKey, AssembledQueue* queue, const Pop& pop)
      : popped_(pop()),
        queue_(popped_.has_value() ? queue : nullptr),
        state_(popped_.has_value() && popped_->group != nullptr ? State::kGroup : State::kOpen) {}
  Attempt(Attempt&& other) noexcept
      : popped_(std::move(other.popped_)),
        queue_(std::exchange(other.queue_, nullptr)),
        state_(other.state_) {}
  Attempt& operator=(Attempt&& other) noexcept;
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    if (queue_ != nullptr && state_ != State::kDone) FailDropped();
  }

  // True: it has no pod and no key, and the functions of a pod's attempt answer an error.
  bool is_group() const { return state_ >= State::kGroup; }

  const Pod& pod() const { return *popped_->pod; }
  const PodRef& pod_ref() const { return popped_->pod; }
  const PodKey& key() const { return popped_->key; }
  uint32_t attempts() const { return popped_->fields.attempts; }
  uint64_t cycle() const { return popped_->cycle; }
  const PoppedPod& popped() const { return *popped_; }
  bool is_ended() const { return queue_ == nullptr; }
  // Of an attempt that has not ended.
  const AssembledQueue& queue() const { return *queue_; }

  // Of a group: its root, and its members in the order in which a cycle looks at them.
  const PoppedGroup& group() const { return *popped_->group; }
  // An attempt for each member, in that order. Gives them once; none of a pod, and none after the
  // end of the cycle.
  std::vector<Attempt> TakeMembers();
  // Ends the cycle of a group, and the attempt. Members that were not taken fail first, without
  // plugins, because nothing is known to have rejected them. An error: it is the attempt of a pod,
  // or has ended already.
  Status EndGroup(GroupStatus status);

  // The pod could not be scheduled, for which these plugins are the reason; none: an error.
  // `pending` are plugins that wait for something and want the pod back at once. An error: the
  // attempt has ended already, or the pod stands in a queue again, which ends it all the same.
  // Here and below it is an error too that the attempt is that of a group.
  Status Fail(PluginSet unschedulable, PluginSet pending = PluginSet());
  // The same, and the queue knows at once to which node the pod is nominated, or that it is to none
  // any more; the API server is told.
  Status Fail(PluginSet unschedulable, PluginSet pending, const FailedNomination& nomination);

  // The pod has a node, and its binding begins: it is not in flight any more. An error: the attempt
  // has ended or is done already.
  Status Done();
  // The pod is not to be scheduled any more, as one that is being deleted: it leaves flight for no
  // queue. An error: the attempt has ended or is done already.
  Status Abandon();
  // The node is shown on the pod as by BeginBinding, but the pod stays in flight: a Permit plugin
  // lets it wait. Done ends that, or Fail. An error: the attempt has ended or is done already.
  Status ShowNode(const std::string& node);
  // Done, and the nominated node is shown on the pod where the gate NominatedNodeNameForExpectation
  // and the plan ask for it. An error: as Done, or a PreBind plugin fails or rejects; the attempt
  // has then failed without plugins.
  Status BeginBinding(BindingPlan plan);

  // The pod is bound: it leaves the queue. An error: the attempt has ended already.
  Status Bind();
  // Sends the binding through the dispatcher and ends the attempt. `then` is told how the call
  // ended, from the thread that ended it. After that, a call that failed takes the nomination back
  // and fails the pod without plugins; of one that succeeded the cluster will tell. An error: the
  // attempt has ended already, or the assembled queue has no dispatcher.
  Status SendBinding(const std::string& node, std::function<void(const Status&)> then = nullptr);

 private:
  // The states of groups stand last.
  enum class State : uint8_t { kOpen, kDone, kGroup, kGroupWithoutMembers };

  // Why what the caller asked cannot be done.
  [[gnu::cold]] Status EndedAlready() const;
  // Fail of an attempt that is not open. Apart, so that its errors cost Fail nothing.
  [[gnu::cold]] Status FailWhenNotOpen(PluginSet unschedulable, PluginSet pending);
  [[gnu::cold]] void FailDropped();
  void EndCycle(AssembledQueue* queue, GroupStatus status);
  std::string Name() const;

  std::optional<PoppedPod> popped_;  // Always there in an attempt that a caller sees.
  AssembledQueue* queue_;            // Null: it has ended, or another object has it now.
  State state_;
};

}  // namespace schedq
