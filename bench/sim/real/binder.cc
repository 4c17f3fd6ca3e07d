#include "bench/sim/real/binder.h"

#include <array>
#include <utility>

#include "bench/sim/cluster/faults.h"
#include "bench/sim/placing/framework.h"
#include "bench/sim/real/tell_of_room.h"
#include "dispatcher/report/pre_flight.h"
#include "engine/base/time/time.h"
#include "engine/plugin.h"
#include "engine/queueing_fields.h"
#include "schedq/attempt.h"

namespace schedq {

Binder::Binder(const Surroundings& surroundings) : around_(surroundings) {
  thread_.Start([this](PartClock* parts) { Run(parts); });
}

void Binder::Stop() {
  steps_.Close();
  thread_.Join();
}

void Binder::Begin(BindingRef binding) {
  under_way_.fetch_add(1);
  binding->steps = around_.cache->framework_of(binding->pod()).PreBindSteps(binding->decision);
  steps_.Push(std::move(binding));
}

void Binder::Run(PartClock* parts) {
  BindingRef binding;
  while (steps_.Pop(&binding)) {
    const bool sends = binding->step == Binding::Step::kBind || binding->steps == 0;
    const InPart in_part(parts, sends ? Part::kDispatcher : Part::kBinding);
    Step(binding);
    binding.reset();
  }
}

void Binder::Step(const BindingRef& binding) {
  switch (binding->step) {
    case Binding::Step::kBegin:
      return binding->steps == 0 ? Send(binding) : BeginSteps(binding);
    case Binding::Step::kBind:
      return Send(binding);
    case Binding::Step::kGiveUp:
      // What it holds goes before the queue may give the pod to another thread.
      GiveBack(binding);
      around_.attempts->End(binding->pod().slot());
      // The queue may have refused, which ends the attempt all the same.
      static_cast<void>(binding->attempt.Fail(PluginSet()));
      return Tell(binding);
    case Binding::Step::kTell:
      return Tell(binding);
    case Binding::Step::kRejected:
      return Reject(binding);
  }
}

void Binder::Reject(const BindingRef& binding) {
  GiveBack(binding);
  around_.attempts->End(binding->pod().slot());
  static_cast<void>(binding->attempt.Fail(binding->rejectors));
  Count(*binding, AttemptResult::kUnschedulable);
  TellOthersOfRoom(around_.queue, binding->pod(), binding->decision.node);
  under_way_.fetch_sub(1);
}

// A nomination that fails does not end the binding; a step of PreBind that fails does.
void Binder::BeginSteps(const BindingRef& binding) {
  BindingPlan plan;
  plan.node = binding->decision.node;
  plan.pre_flights = {PreFlight::kSuccess};
  const Status begun =
      binding->is_shown ? binding->attempt.Done() : binding->attempt.BeginBinding(std::move(plan));
  SCHEDQ_CHECK(begun.ok(), "no built-in plugin rejects here");
  around_.pace->Post([this, binding] { TakeSteps(binding); });
}

// On the cluster's thread.
void Binder::TakeSteps(const BindingRef& binding) {
  const Framework& framework = around_.cache->framework_of(binding->pod());
  binding->step = Binding::Step::kBind;
  for (; binding->steps_taken < binding->steps; ++binding->steps_taken) {
    const Duration delay = framework.PreBindDelay(
        binding->steps_taken, binding->waited, *around_.cluster, binding->pod(), binding->decision);
    if (delay > Duration(0)) {
      binding->waited += delay;
      Clock& clock = around_.cluster->clock();
      clock.At(clock.Now() + delay, [this, binding] { TakeSteps(binding); });
      return;
    }
    binding->waited = Duration(0);
    if (framework.PreBind(binding->steps_taken, around_.cluster, binding->pod(),
                          binding->decision)) {
      continue;
    }
    binding->step = Binding::Step::kGiveUp;
    break;
  }
  steps_.Push(binding);
}

void Binder::Send(const BindingRef& binding) {
  const std::string& node = binding->decision.node;
  if (around_.queue->api_calls() != nullptr) {
    // Where it cannot be sent, the attempt has ended, and so has the pod.
    const Status sent = binding->attempt.SendBinding(
        node, [this, binding](const Status& status) { OnAnswer(binding, status); });
    if (!sent) OnAnswer(binding, sent);
    return;
  }
  if (binding->steps == 0) static_cast<void>(binding->attempt.Done());
  around_.pace->Post([this, binding] {
    const Status bound =
        around_.cluster->faults().Refuses(CallKind::kBind)
            ? Status(Error(kApiServerError))
            : around_.cluster->BindPod(binding->pod().number, binding->decision.node);
    OnAnswer(binding, bound);
    // A failure of an attempt that is done is one of its binding.
    if (!bound) static_cast<void>(binding->attempt.Fail(PluginSet()));
  });
}

void Binder::OnAnswer(const BindingRef& binding, const Status& status) {
  if (!status.ok()) {
    // At once: when the caller has told the queue, a thread may pop the pod, and a member of a
    // group that is still assumed is not scheduled.
    GiveBack(binding);
    around_.attempts->End(binding->pod().slot());
    binding->step = Binding::Step::kTell;
    return steps_.Push(binding);
  }
  const Instant now = around_.pace->Now();
  const QueueingFields& fields = binding->popped.fields;
  Count(*binding, AttemptResult::kScheduled);
  around_.metrics->CountScheduled(fields.attempts,
                                  now - fields.first_attempt.value_or(binding->started));
  under_way_.fetch_sub(1);
}

void Binder::GiveBack(const BindingRef& binding) {
  around_.cache->Forget(binding->pod(), binding->decision, binding->steps_taken);
}

void Binder::Count(const Binding& binding, AttemptResult result) const {
  around_.metrics->CountAttempt(result, around_.pace->Now() - binding.started,
                                around_.cache->ProfileOf(binding.pod()).value_or(0));
}

void Binder::Tell(const BindingRef& binding) {
  Count(*binding, AttemptResult::kError);
  TellOfRoom(around_.queue, binding->pod(), binding->decision.node);
  under_way_.fetch_sub(1);
}

}  // namespace schedq
