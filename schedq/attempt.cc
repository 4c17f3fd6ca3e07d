#include "schedq/attempt.h"

#include "dispatcher/report/nomination_reporter.h"
#include "schedq/api_calls.h"
#include "schedq/assembled_parts.h"
#include "schedq/assembled_queue.h"

namespace schedq {

Attempt& Attempt::operator=(Attempt&& other) noexcept {
  if (this == &other) return *this;
  if (queue_ != nullptr && state_ != State::kDone) FailDropped();
  queue_ = std::exchange(other.queue_, nullptr);
  popped_ = std::move(other.popped_);
  state_ = other.state_;
  return *this;
}

std::string Attempt::Name() const {
  if (!is_group()) return "attempt of pod " + QualifiedName(*popped_->pod);
  const GroupKey& root = popped_->group->root;
  return "attempt of group " + QualifiedName(root.namespace_name, root.name);
}

Status Attempt::EndedAlready() const {
  if (popped_->pod == nullptr && popped_->group == nullptr) {
    return Error("attempt: it was moved from");
  }
  if (queue_ != nullptr && is_group()) {
    return Error(Name() + ": expected TakeMembers or EndGroup, the others are for pods");
  }
  return Error(Name() + ": it has ended already");
}

// The pod fails as an error, so it backs off and is tried again; so does a group.
void Attempt::FailDropped() {
  AssembledQueue* const queue = std::exchange(queue_, nullptr);
  if (is_group()) return EndCycle(queue, GroupStatus::kError);
  static_cast<void>(queue->FailAttempt(*popped_, PluginSet(), PluginSet()));
}

std::vector<Attempt> Attempt::TakeMembers() {
  std::vector<Attempt> members;
  if (queue_ == nullptr || state_ != State::kGroup) return members;
  members.reserve(group().members.size());
  // From here on nothing fails, so each member belongs to exactly one attempt.
  state_ = State::kGroupWithoutMembers;
  for (const PoppedPod& member : group().members) {
    members.emplace_back(MakerKey(), queue_, [&] { return std::optional(member); });
  }
  return members;
}

// A member that joins before the end of the cycle comes back with its group.
void Attempt::EndCycle(AssembledQueue* queue, GroupStatus status) {
  if (state_ == State::kGroup) {
    for (const PoppedPod& member : group().members) {
      static_cast<void>(queue->FailAttempt(member, PluginSet(), PluginSet()));
    }
  }
  queue->GroupDone(group().root, status);
}

Status Attempt::EndGroup(GroupStatus status) {
  if (queue_ == nullptr) return EndedAlready();
  if (!is_group()) return Error(Name() + ": it is no group, which EndGroup is for");
  EndCycle(std::exchange(queue_, nullptr), status);
  return Status::Ok();
}

Status Attempt::Fail(PluginSet unschedulable, PluginSet pending) {
  if (queue_ == nullptr || state_ != State::kOpen) return FailWhenNotOpen(unschedulable, pending);
  return std::exchange(queue_, nullptr)->FailAttempt(*popped_, unschedulable, pending);
}

Status Attempt::Fail(PluginSet unschedulable, PluginSet pending,
                     const FailedNomination& nomination) {
  if (queue_ == nullptr || state_ != State::kOpen) return FailWhenNotOpen(unschedulable, pending);
  return std::exchange(queue_, nullptr)
      ->FailNominated(*popped_, unschedulable, pending, nomination);
}

// Once its binding has begun there is no plugin to wait for, only an error.
Status Attempt::FailWhenNotOpen(PluginSet unschedulable, PluginSet pending) {
  if (queue_ == nullptr || is_group()) return EndedAlready();
  if (!unschedulable.empty() || !pending.empty()) {
    return Error(Name() + ": its binding has begun, expected a failure without plugins");
  }
  return std::exchange(queue_, nullptr)->FailBinding(*popped_);
}

Status Attempt::Done() {
  if (queue_ == nullptr || state_ != State::kOpen) return EndedAlready();
  state_ = State::kDone;
  queue_->DoneAttempt(*popped_);
  return Status::Ok();
}

Status Attempt::Abandon() {
  if (queue_ == nullptr || state_ != State::kOpen) return EndedAlready();
  std::exchange(queue_, nullptr)->parts_->queue->Done(popped_->key);
  return Status::Ok();
}

Status Attempt::ShowNode(const std::string& node) {
  if (queue_ == nullptr || state_ != State::kOpen) return EndedAlready();
  BindingPlan plan;
  plan.node = node;
  plan.permit_waits = true;
  return queue_->ShowBinding(*popped_, std::move(plan));
}

Status Attempt::BeginBinding(BindingPlan plan) {
  if (queue_ == nullptr || state_ != State::kOpen) return EndedAlready();
  state_ = State::kDone;
  Status begun = queue_->BeginBindingOf(*popped_, std::move(plan));
  if (!begun) queue_ = nullptr;
  return begun;
}

Status Attempt::Bind() {
  if (queue_ == nullptr || is_group()) return EndedAlready();
  std::exchange(queue_, nullptr)->BindAttempt(*popped_);
  return Status::Ok();
}

Status Attempt::SendBinding(const std::string& node, std::function<void(const Status&)> then) {
  if (queue_ == nullptr || is_group()) return EndedAlready();
  if (queue_->api_calls() == nullptr) {
    return Error(Name() + ": no dispatcher, expected api_calls among the options");
  }
  if (state_ != State::kDone) queue_->DoneAttempt(*popped_);
  std::exchange(queue_, nullptr)->SendBindingOf(*popped_, node, std::move(then));
  return Status::Ok();
}

// What stands behind an attempt: the queue's side, and the calls'.

// Told how the call for a binding ended; ends with it.
class AssembledQueue::BindingCall final : public CallListener {
 public:
  BindingCall(AssembledQueue* queue, PoppedPod popped, std::function<void(const Status&)> then)
      : queue_(*queue), popped_(std::move(popped)), then_(std::move(then)) {}

  // The caller is told first, so that it has let go of the pod when the pod is tried again.
  void OnEnd(const ApiCall&, CallEnd end, const Status& status) override {
    const std::unique_ptr<BindingCall> self(this);
    const bool is_bound = end == CallEnd::kSuccess;
    if (then_) then_(is_bound || !status.ok() ? status : Status(Error("the binding was not sent")));
    if (is_bound || (end != CallEnd::kError && IsPodGone())) return;
    // It may end inside an operation of the queue.
    queue_.parts_->deferred->Run([queue = &queue_, popped = std::move(popped_)] {
      static_cast<void>(queue->FailBinding(popped));
    });
  }

 private:
  // Mostly a call that never went out belongs to a pod that is gone. But its number may have been
  // another pod's before, and what still came for that one, a call or a cancellation, may have
  // taken the place of this call. Then the pod is there.
  bool IsPodGone() const { return !queue_.parts_->being_bound.Has(popped_.key); }

  AssembledQueue& queue_;
  PoppedPod popped_;
  const std::function<void(const Status&)> then_;
};

PodRef AssembledQueue::NewestOf(const PoppedPod& popped) const {
  PodRef newest = parts_->queue->Where(QualifiedName(*popped.pod)).pod;
  return newest != nullptr && newest->uid == popped.pod->uid ? newest : popped.pod;
}

Status AssembledQueue::FailAttempt(const PoppedPod& popped, PluginSet unschedulable,
                                   PluginSet pending) {
  if (parts_->calls != nullptr) return FailAndReport(popped, unschedulable, pending);
  return parts_->queue->Fail(popped.key, unschedulable, pending);
}

Status AssembledQueue::FailAndReport(const PoppedPod& popped, PluginSet unschedulable,
                                     PluginSet pending) {
  Status failed = parts_->queue->Fail(popped.key, unschedulable, pending);
  Report(popped, unschedulable | pending, {});
  return failed;
}

// The pod stands in its queue before it is nominated, as a pod in flight may be deleted.
Status AssembledQueue::FailNominated(const PoppedPod& popped, PluginSet unschedulable,
                                     PluginSet pending, const FailedNomination& nomination) {
  Status failed = parts_->queue->Fail(popped.key, unschedulable, pending);
  if (!nomination.node.empty()) {
    Status nominated = parts_->queue->Nominate(popped.pod, nomination.node);
    if (failed && !nominated) failed = std::move(nominated);
  } else if (!nomination.victims_are_going) {
    // At once, because an update that comes while the pod is in flight changes no nomination.
    static_cast<void>(parts_->queue->Nominate(popped.pod, {}));
  }
  if (parts_->calls != nullptr) Report(popped, unschedulable | pending, nomination);
  return failed;
}

void AssembledQueue::Report(const PoppedPod& popped, PluginSet rejectors,
                            const FailedNomination& nomination) {
  ApiCalls& calls = *parts_->calls;
  if (!calls.reports_failures()) return;
  const PodRef newest = NewestOf(popped);
  calls.ReportUnschedulable(popped.key, newest, parts_->RejectionMessage(rejectors));
  FailedCycle cycle;
  cycle.pod = newest;
  cycle.object = popped.key.id;
  cycle.failure = rejectors.empty() ? CycleFailure::kError : CycleFailure::kUnschedulable;
  cycle.post_filter_node = nomination.node;
  cycle.victims_are_going = nomination.victims_are_going;
  calls.ReportFailedCycle(cycle);
}

// The queue fails the version that it knows, and hears of newer ones as of any update.
Status AssembledQueue::FailBinding(const PoppedPod& popped) {
  Status failed = parts_->queue->Fail(popped.key, PluginSet(), PluginSet());
  PodRef newest = popped.pod;
  const bool is_live = parts_->being_bound.End(popped.key, [&](const PodRef& version) {
    Status updated = parts_->queue->Update(newest, version);
    if (!updated) failed = std::move(updated);
    newest = version;
  });
  // Deleted or bound between the two: an update of a pod that the queue does not know adds it.
  if (!is_live) parts_->queue->Delete(*newest);
  ApiCalls* const calls = parts_->calls.get();
  if (calls != nullptr && calls->reports_failures()) {
    FailedCycle cycle;
    cycle.pod = newest;
    cycle.object = popped.key.id;
    cycle.failure = CycleFailure::kBinding;
    calls->ReportFailedCycle(cycle);
  }
  return failed;
}

// The binding begins first: an update that comes between the two is withheld already.
void AssembledQueue::DoneAttempt(const PoppedPod& popped) {
  parts_->being_bound.Begin(popped.key);
  parts_->queue->Done(popped.key);
}

Status AssembledQueue::BeginBindingOf(const PoppedPod& popped, BindingPlan plan) {
  DoneAttempt(popped);
  Status started = ShowBinding(popped, std::move(plan));
  if (!started) static_cast<void>(FailBinding(popped));
  return started;
}

Status AssembledQueue::ShowBinding(const PoppedPod& popped, BindingPlan plan) {
  ApiCalls* const calls = parts_->calls.get();
  if (calls == nullptr) return Status::Ok();
  BindingStart start;
  start.pod = NewestOf(popped);
  start.object = popped.key.id;
  start.node = std::move(plan.node);
  start.permit_waits = plan.permit_waits;
  start.pre_flights = plan.pre_flights;
  start.claims = std::move(plan.claims);
  start.listener = plan.listener;
  start.tag = plan.tag;
  return calls->ReportBindingStart(std::move(start));
}

void AssembledQueue::BindAttempt(const PoppedPod& popped) {
  const PodRef withheld = parts_->being_bound.Forget(popped.key);
  const PodRef newest = withheld != nullptr ? withheld : NewestOf(popped);
  parts_->world.PodChanged(newest.get(), nullptr);
  parts_->queue->Bind(popped.key);
}

void AssembledQueue::SendBindingOf(const PoppedPod& popped, const std::string& node,
                                   std::function<void(const Status&)> then) {
  // It deletes itself when the call has ended, which every call does.
  auto* const listener = new BindingCall(this, popped, std::move(then));
  parts_->calls->SendBinding(popped.key, popped.pod, node, listener, 0);
}

}  // namespace schedq
